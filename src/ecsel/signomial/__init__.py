"""The signomial room."""
