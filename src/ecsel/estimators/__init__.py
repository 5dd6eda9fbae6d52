"""The estimators room."""
