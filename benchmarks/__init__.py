"""Measurements of the library against its claims and its peers; `python -m benchmarks --help` lists them."""
