"""What sphinx-gallery runs: every example, each of which takes a second or two on a drawn table."""

from __future__ import annotations

from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

EXAMPLES = Path(__file__).parents[2] / "examples"

ORDER = [
    "readable_equation.py",
    "titanic.py",
    "penguins.py",
    "telco_churn.py",
    "heart_disease.py",
    "cancer_screening.py",
    "properties.py",
    "online_shopping.py",
    "fraud.py",
    "credit.py",
    "kepler.py",
    "brain_mass.py",
    "growing_terms.py",
]
"""From the smallest story to the largest, then the laws; a test holds it to the folder."""

GALLERY = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"_data\.py$",  # the tables of the examples, which are imported by them
    "within_subsection_order": ExplicitOrder(ORDER),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "matplotlib_animations": False,
    "abort_on_example_error": True,
}
