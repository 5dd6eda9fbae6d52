"""The tables room."""
