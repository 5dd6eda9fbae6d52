"""Uncertainty of a fit: the sandwich, the delta method, and the fit without a penalty."""
