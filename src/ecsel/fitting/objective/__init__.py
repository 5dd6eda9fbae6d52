"""What is minimised: losses, forms of terms, constraints, and the problem that puts them together."""
