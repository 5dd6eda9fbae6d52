"""An estimator in a notebook: scikit-learn's box with its options, the equations typeset, and its summary to unfold.

Equations are MathML, which browsers draw by themselves, so that they need no script and show in saved pages too. The
links of the box lead to the documentation that the installed package names (``[project.urls]``); where it names none,
the box has none.
"""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils import estimator_html_repr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ecsel.signomial import Signomial

PACKAGE = "ecsel"


class NotebookMixin:
    """What scikit-learn's box asks an estimator: where its documentation is."""

    _doc_link_module = PACKAGE

    @property
    def _doc_link_template(self) -> str:
        address = _installed_documentation()
        return address and f"{address}/api/{PACKAGE}.html#{PACKAGE}.{type(self).__name__}"


def notebook_page(
    estimator: Any,
    equations: Mapping[str, Signomial] | None,
    summary: str,
    *,
    numbers: Literal["all_digits", "four_digits", "simple_number"] = "all_digits",
) -> str:
    """Return the box of an estimator and, once it is fitted, its equations and its summary.

    Parameters
    ----------
    estimator
        An estimator of scikit-learn's kind.
    equations : dict of str to Signomial, or None
        The left-hand sides, as plain text, with the right-hand sides; None before the fit.
    summary : str
        What the model says of itself.
    numbers : {"all_digits", "four_digits", "simple_number"}, default="all_digits"
        How coefficients are written: all their digits, which are few in a readable equation; four of them in the
        paper's model; four, or names such as 2π, in a law.
    """
    box: str = estimator_html_repr(estimator)
    if equations is None:
        return box
    # the typesetter belongs to the report, which imports this room; a lazy door, listed in pyproject.toml
    from ecsel.report import mathml  # noqa: PLC0415
    from ecsel.report.html import element  # noqa: PLC0415

    text = getattr(mathml, numbers)
    lines = [
        str(element("p", mathml.equation(element("mtext", left), right, text))) for left, right in equations.items()
    ]
    return "".join([box, *lines, f"<details><summary>summary</summary><pre>{escape(summary)}</pre></details>"])


def documentation(urls: Sequence[str]) -> str:
    """Return the address of the documentation among the labelled addresses of a package; empty where there is none.

    >>> documentation(["Source, https://example.org/code", "Documentation, https://example.org/docs/"])
    'https://example.org/docs'
    """
    found = {label.strip().lower(): address.strip() for label, _, address in (url.partition(",") for url in urls)}
    return found.get("documentation", "").rstrip("/")


@cache
def _installed_documentation() -> str:
    try:
        return documentation(metadata(PACKAGE).get_all("Project-URL") or [])
    except PackageNotFoundError:  # the sources alone, without an install
        return ""
