"""What people read: equations as text, LaTeX and SymPy, how many digits they need, and scorecards."""
