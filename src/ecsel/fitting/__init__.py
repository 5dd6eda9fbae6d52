"""The fitting room."""
