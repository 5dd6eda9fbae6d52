"""Attacks on what reads data of others: model files, equations, tables, names and the kernel's entry points."""
