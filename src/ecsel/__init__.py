"""Closed-form equations from tables: signomial classifiers and laws, with exact explanations."""
