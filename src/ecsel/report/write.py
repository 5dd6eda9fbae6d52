"""`write_report` and `render_report`: a fitted model as one HTML file that explains itself."""

from __future__ import annotations

import warnings
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ecsel.files.atomic_write import write_whole
from ecsel.report.evidence import Evidence
from ecsel.report.html import Html, breakable
from ecsel.report.page import PageOptions, build_page, policy
from ecsel.report.wording import MINUS, unbroken

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping, Sequence

    from ecsel.export.readable.scorecards import Scorecard


def render_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    group: Any = None,
    title: str | None = None,
    purpose: str | None = None,
    costs: Any = None,
    immutable: Collection[str] | None = None,
    limits: Sequence[str] = (),
    details: Mapping[str, str] | None = None,
    sample_rows: int = 5000,
    n_bootstrap: int = 0,
    column_texts: Mapping[str, str] | None = None,
    annex_iv: bool | Mapping[int, str] = False,
    points: Scorecard | None = None,
) -> str:
    """Return the report as the text of an HTML page; the options are those of `write_report`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ecsel import ECSELClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> page = render_report(ECSELClassifier(n_terms=1, l1=0.01).fit(X, y), X, y, title="Irises")
    >>> page[:15], "Irises" in page
    ('<!doctype html>', True)
    """
    environment = _environment()
    if sample_rows < 0:
        raise ValueError(f"sample_rows={sample_rows!r} must not be negative.")
    options = PageOptions(
        title or "Model report",
        purpose,
        group,
        costs,
        immutable,
        tuple(limits),
        details or {},
        sample_rows,
        n_bootstrap,
        column_texts,
        annex_iv,
        points,
    )
    with warnings.catch_warnings():
        # rows outside of the training range are counted and shown on the page
        warnings.simplefilter("ignore", UserWarning)
        page = build_page(Evidence.read(model, X, y, X_test, y_test), options)
    style = (files("ecsel.report") / "templates" / "style.css").read_text(encoding="utf-8")
    text: str = environment.get_template("report.html").render(
        page=page, style=Html(style), script=Html(page.script), policy=policy(style, page.script)
    )
    return text


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    X_test: Any = None,
    y_test: Any = None,
    group: Any = None,
    title: str | None = None,
    purpose: str | None = None,
    costs: Any = None,
    immutable: Collection[str] | None = None,
    limits: Sequence[str] = (),
    details: Mapping[str, str] | None = None,
    sample_rows: int = 5000,
    n_bootstrap: int = 0,
    column_texts: Mapping[str, str] | None = None,
    annex_iv: bool | Mapping[int, str] = False,
    points: Scorecard | None = None,
) -> Path:
    """Write a fitted model as one self-contained HTML file, and return its path.

    The file needs no server, no network and no other file: the equation typeset, the data, the quality, what drives the
    model, a decision map, groups compared, examples explained in words, limits, a model card, and a live what-if that
    runs the model itself in the page.

    Parameters
    ----------
    model : ECSELClassifier or ECSELRegressor
        A fitted model.
    path : path
        Where to write; a file that is there is replaced, at once and only if all went well.
    X, y : table and outcomes
        The rows of training.
    X_test, y_test : table and outcomes, optional
        Held-out rows on which to evaluate the model. Without them those of training count, and the page says so.
    group : name of a column, or one label per evaluated row, optional
        The groups of the fairness table; a column of many numbers is cut into quarters.
    title, purpose : str, optional
        What the model is called, and what it is for.
    costs : 2×2 matrix, optional
        Two classes only: cost[true][predicted], from which the threshold panel starts; by default a mistake costs 1.
    immutable : list of columns, optional
        Columns that nobody can change, and that no suggested change touches; the group is always one of them. By
        default those whose names sound like age, sex, race or the like; an empty list frees them.
    limits : list of str, optional
        Sentences for the section on limits.
    details : dict of str to str, optional
        Further lines of the model card, such as an owner, a date or a contact.
    sample_rows : int, default=5000
        Most evaluated rows that the file keeps for the live what-if to start from; the explained examples always stay.
    n_bootstrap : int, default=0
        Bootstrap draws of the rows on which the whole search is repeated, for the bands of the curves and to tell how
        often each piece is chosen again; with 0 the bands are standard errors. Readable classifiers only.
    column_texts : dict of column to str, optional
        Your own words for columns that are reasons; see `explain.reasons`.
    annex_iv : bool or dict of int to str, default=False
        Add the nine headings of Annex IV to the EU's AI Act, filled with what the report knows; what only people can
        say is marked "to be written". A dict has your own text for some of the points 1 to 9.
    points : Scorecard, optional
        Show the equation as points too: ``points=ecsel.scorecard(model, decimals=0)``.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from ecsel import ECSELClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECSELClassifier(n_terms=1, l1=0.01).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(model, f"{folder}/iris.html", X, y, purpose="Tell three irises apart.").name
    'iris.html'
    """
    text = render_report(
        model,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        group=group,
        title=title,
        purpose=purpose,
        costs=costs,
        immutable=immutable,
        limits=limits,
        details=details,
        sample_rows=sample_rows,
        n_bootstrap=n_bootstrap,
        column_texts=column_texts,
        annex_iv=annex_iv,
        points=points,
    )
    target = Path(path)
    write_whole(target, text.encode())
    return target


def _environment() -> Any:
    try:
        import jinja2  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError('a report needs jinja2: pip install "ecsel[report]"') from error
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.PackageLoader("ecsel.report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = unbroken
    environment.filters["breakable"] = breakable
    environment.filters["minus"] = lambda text: text.replace("-", MINUS)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment
