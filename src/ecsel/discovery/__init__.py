"""The discovery room."""
