"""How the documentation is built: `make docs`, which takes warnings for errors."""

from __future__ import annotations

import sys
from pathlib import Path

import ecsel

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent), str(HERE.parent / "examples")]

from gallery import GALLERY  # noqa: E402  # from _ext, which is on the path only now

project = "ecsel"
author = "The ecsel developers"
copyright = author  # noqa: A001  # Sphinx's name for it
version = release = ecsel.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "mathml",
    "plain_bars",
]
root_doc = "index"
exclude_patterns = ["_build", "auto_examples/*.ipynb", "**/.*"]
default_role = "autolink"

# Markdown
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache", "myst.header"]  # a gallery object in the configuration; included files start at H2
html_math_renderer = "mathml"

# Reference
autosummary_generate = False  # the pages are written by api_pages
autodoc_typehints = "none"  # the docstrings say what the arguments are, for people
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
nitpicky = True
autodoc_default_options = {
    # documented by scikit-learn
    "exclude-members": "get_metadata_routing, set_callbacks, set_fit_request, set_predict_request, set_score_request",
}
nitpick_ignore_regex = [
    ("py:obj", r".*"),  # single backquotes: a link where there is a target, else code
    ("py:func", r"canonical_factor"),  # a helper that the class beside it speaks of
]

# Gallery
sphinx_gallery_conf = GALLERY

# Look
html_theme = "furo"
html_title = f"ecsel {release}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
html_copy_source = False
html_show_sphinx = False
