"""An estimator in a notebook: scikit-learn's box with its options, the equations typeset, and its summary to unfold.

The report is shown in a frame, live what-if and all, by the last line of a cell: ``model.report(X, y)``.

Equations are MathML, which browsers draw by themselves, so that they need no script and show in saved pages too. The
links of the box lead to the documentation that the installed package names (``[project.urls]``); where it names none,
the box has none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from typing import TYPE_CHECKING, Any, Literal

from sklearn import get_config
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from ecsel.files.atomic_write import write_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from ecsel.signomial import Signomial

PACKAGE = "ecsel"


@dataclass(frozen=True, slots=True, repr=False)
class ReportFrame:
    """A report as a notebook shows it: a page of its own in a frame, which scripts cannot leave.

    Attributes
    ----------
    html : str
        The page, which needs no other file.
    height : int
        The height of the frame, in pixels.
    """

    html: str
    height: int = field(default=900)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page into a file, whole or not at all."""
        write_whole(path, self.html.encode())

    def __repr__(self) -> str:
        return f"<report of {len(self.html.encode()) / 1000:.0f} kB; save(path) writes it, a notebook shows it>"

    def _repr_html_(self) -> str:
        # what the page may do is run its own script and print: no origin, no network, no way to the notebook; without
        # a base of its own, its links to its sections would lead to sections of the notebook
        page = self.html.replace("<head>", '<head><base href="about:srcdoc">', 1)
        return (
            f'<iframe title="Model report" width="100%" height="{self.height}" style="border: 1px solid #ccc" '
            f'sandbox="allow-scripts allow-modals" srcdoc="{escape(page)}"></iframe>'
        )


class NotebookMixin:
    """What notebooks ask an estimator: where its documentation is, and its report."""

    _doc_link_module = PACKAGE

    def report(self, X: Any, y: Any, *, height: int = 900, **options: Any) -> ReportFrame:
        """Return the report of the fitted model, which a notebook shows in a frame with the live what-if.

        Parameters
        ----------
        X, y : table and outcomes
            The rows of training.
        height : int, default=900
            The height of the frame, in pixels.
        **options
            Those of `ecsel.report.render_report`, such as ``X_test=``, ``y_test=``, ``title=`` and ``group=``.

        Returns
        -------
        ReportFrame
            Its `html` is the page, and its `save` writes it. Needs ``pip install "ecsel[report]"``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ecsel import ECSELClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> ECSELClassifier(n_terms=1, l1=0.01).fit(X, y).report(X, y)  # doctest: +ELLIPSIS
        <report of ... kB; save(path) writes it, a notebook shows it>
        """
        # the page belongs to the report, which imports this room; a lazy door, listed in pyproject.toml
        from ecsel.report.write import render_report  # noqa: PLC0415

        check_is_fitted(self)
        return ReportFrame(render_report(self, X, y, **options), height)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        # notebooks ask for this before `_repr_html_`, and scikit-learn's own has its box alone
        bundle = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_()  # type: ignore[attr-defined]  # each estimator has its own
        return bundle

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
    # a term stays on one line, and long lines of the summary wrap, whatever the notebook's own style
    style = "<style>.ecsel .term { display: inline-block; } .ecsel pre { white-space: pre-wrap; }</style>"
    details = f"<details><summary>summary</summary><pre>{escape(summary)}</pre></details>"
    return "".join([box, style, '<div class="ecsel">', *lines, details, "</div>"])


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
