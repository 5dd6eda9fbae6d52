"""The files room."""
