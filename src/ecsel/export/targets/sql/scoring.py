"""`to_sql`: the model as one query, which scores the rows of a table where they are.

The query computes layer after layer (`layers.py`) what the program says, in one of eight dialects (`dialects.py`).
Names of columns, tables and classes are quoted, levels are string literals; sqlglot writes both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.export.program.lowering import lower
from ecsel.export.program.program import reading_lines
from ecsel.export.targets.sql.dialects import DIALECTS
from ecsel.export.targets.sql.underflow import without_underflow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot import exp

    from ecsel.export.program.contributions import Method
    from ecsel.export.program.program import Program


def to_sql(
    model: Any,
    dialect: str = "duckdb",
    table: str | exp.Expr = "t",
    *,
    keep: Sequence[str] = (),
    contributions: Method | None = None,
    baseline: Any = None,
) -> str:
    """Return the model as a query that scores every row of a table.

    The result has the columns in `keep`, then ``label`` and ``probability_<class>`` for each class, or ``prediction``
    for a regression; all of these are NULL on a row that the model refuses. With `contributions` there follow, for each
    score, ``base_value`` and ``contribution_<column>``, with the class (if there are several scores) and the term (of
    ``"log_additive"``) before the column. A name that another column has already, whatever its case, gets a number at
    its end; names of more than 60 bytes are cut.

    SQL promises no order of rows: keep the key of the table to tell them apart.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    dialect : {"duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "tsql", "mysql"}, default="duckdb"
        The database: SQLite from 3.35, MySQL from 8.0.17, SQL Server (``"tsql"``) from 2022, others as they are today.
    table : str or sqlglot expression, default="t"
        The table: ``"table"``, ``"schema.table"`` or ``"catalog.schema.table"``, each part taken as it is and quoted. A
        name that has a dot in it, or a query that renames columns, is given as a `Table` or `Subquery` of sqlglot.
    keep : sequence of str, optional
        Columns of the table that are carried along.
    contributions, baseline : {"log_additive", "attribution", "shapley"} and reference row, optional
        What each column contributes (L1 by term, L2 to the scores, or exact Shapley values), against which row; by
        default a typical training row.

    Examples
    --------
    >>> import sqlite3
    >>> from ecsel import Signomial
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.executescript("CREATE TABLE t(id, x, y); INSERT INTO t VALUES (7, 2.0, 4.0), (8, NULL, 1.0);")
    >>> query = to_sql(Signomial.parse("3*x**2/y"), "sqlite", "t", keep=["id"])
    >>> [(key, value and round(value, 12)) for key, value in database.execute(query)]
    [(7, 3.0), (8, None)]
    """
    check_sql_options(dialect, keep)
    return query_of(lower(model, contributions=contributions, baseline=baseline), dialect, table, keep)


def check_sql_options(dialect: str, keep: Sequence[str]) -> None:
    """Refuse a dialect that is not known, and columns to keep that are one text."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, not {dialect!r}")
    if isinstance(keep, str):
        raise TypeError(f"keep must be a list of columns, not {keep!r}: write [{keep!r}]")


def query_of(program: Program, dialect: str, table: str | exp.Expr, keep: Sequence[str]) -> str:
    """Return a program as a query over a table."""
    try:
        from ecsel.export.targets.sql.query import Query, table_of  # noqa: PLC0415 - sqlglot is optional
    except ModuleNotFoundError as error:
        if error.name != "sqlglot":
            raise
        raise ImportError('to_sql needs sqlglot: pip install "ecsel[sql]"') from error
    spoken = DIALECTS[dialect]
    if spoken.stops_at_underflow:
        program = without_underflow(program)
    notes = "".join(f"-- {line}\n" for line in reading_lines(program, converted=spoken.reads_text))
    return notes + Query(program, spoken, table_of(table), tuple(dict.fromkeys(keep))).sql()
