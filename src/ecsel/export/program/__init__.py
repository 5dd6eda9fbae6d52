"""The model as a small program: expressions, how columns are read, and what each column contributes."""
