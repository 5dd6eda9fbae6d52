"""What a query reads from: a table by its name, or whatever sqlglot can put behind FROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ecsel.export.sql.rules import name

if TYPE_CHECKING:
    from ecsel.export.sql.rules import Node


def table_of(table: str | Node) -> Node:
    """Return the table that a name means: up to three parts between dots, each of them quoted as it is.

    Examples
    --------
    >>> table_of("sales.Loans 2024").sql("duckdb")
    '"sales"."Loans 2024"'
    """
    if isinstance(table, (exp.Table, exp.Subquery)):
        return table.copy()
    if not isinstance(table, str):
        raise TypeError(f"table must be a name, or a Table or Subquery of sqlglot, not {type(table).__name__}")
    parts = table.split(".")
    if len(parts) > 3 or not all(parts) or "\0" in table:
        raise ValueError(
            f"table must be 'table', 'schema.table' or 'catalog.schema.table', not {table!r}; give a name with dots "
            "as sqlglot.exp.Table"
        )
    *context, own = map(name, parts)
    return exp.Table(this=own, **dict(zip(("db", "catalog"), reversed(context), strict=False)))
