"""What the dialects of SQL do not share: how a raw value is read, and a few words.

How a column is read is a template in the dialect itself, in which ``x`` stands for the column:

- A number is a double, and NULL where it is NaN, since most databases hold that NaN = NaN, above all numbers. SQLite
  keeps text in columns of numbers and takes ``CAST('12%' AS REAL)`` to be 12; here text is infinite, so that the row is
  refused, and empty text is NULL.
- Text is compared character by character. The collations of MySQL and SQL Server take ``'a'`` and ``'A'`` for equal,
  those of columns elsewhere may; SQL Server also takes ``'a'`` and ``'a '`` for equal, which a full stop at the end
  prevents.
- A truth value is 1 or 0.

A fence keeps the optimiser from writing a layer out at every place where it is used, by which a query would grow
exponentially with its layers. It changes nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect of SQL.

    Attributes
    ----------
    name
        Its name for sqlglot.
    number, text, boolean
        Templates that read a raw column ``x``.
    largest, smallest
        The functions of several numbers.
    fence
        What ends a layer.
    full_stop
        Whether text has a full stop at its end.
    ignores_case
        Whether names of columns that differ in case alone are the same, quoted or not.
    has_booleans
        Whether TRUE is a value.
    not_in_names
        A regular expression of what names of result columns may not hold.
    stops_at_underflow
        Whether a product that is rounded to zero is an error.
    reads_text
        Whether numbers written as text, and dates, are read by the query (see `ecsel.export.targets.sql.text_readers`);
        elsewhere they must be made before.
    """

    name: str
    number: str
    text: str
    boolean: str
    largest: str = "GREATEST"
    smallest: str = "LEAST"
    fence: str = ""
    full_stop: bool = False
    ignores_case: bool = True
    has_booleans: bool = True
    not_in_names: str = r"\0"
    stops_at_underflow: bool = False
    reads_text: bool = False


_NUMBER = "NULLIF(CAST(x AS DOUBLE), CAST('NaN' AS DOUBLE))"
_SQLITE_NUMBER = "CASE WHEN TYPEOF(x) IN ('integer', 'real') THEN CAST(x AS REAL) WHEN TRIM(x) <> '' THEN 9e999 END"

DIALECTS = {
    each.name: each
    for each in (
        Dialect("duckdb", number=_NUMBER, text="CAST(x AS TEXT) COLLATE C", boolean=_NUMBER, reads_text=True),
        Dialect(
            "postgres",
            number="NULLIF(CAST(x AS DOUBLE PRECISION), CAST('NaN' AS DOUBLE PRECISION))",
            text='CAST(x AS TEXT) COLLATE "C"',
            boolean="CAST(x AS INT)",
            fence="OFFSET 0",
            ignores_case=False,
            stops_at_underflow=True,
            reads_text=True,
        ),
        Dialect(
            "sqlite",
            number=_SQLITE_NUMBER,
            text="CAST(x AS TEXT) COLLATE BINARY",
            boolean=_SQLITE_NUMBER,
            largest="MAX",
            smallest="MIN",
            fence="LIMIT -1",
        ),
        Dialect(
            "spark",
            number=_NUMBER,
            text="CAST(x AS STRING)",
            boolean="CAST(x AS INT)",
            not_in_names=r"\0|\$(?=\{)",  # ${…} is a variable, in quoted names too
        ),
        Dialect(
            "bigquery",
            number="CASE WHEN NOT IS_NAN(CAST(x AS FLOAT64)) THEN CAST(x AS FLOAT64) END",
            text="CAST(x AS STRING)",
            boolean="CAST(x AS INT64)",
            not_in_names=r"\W",
        ),
        Dialect("snowflake", number=_NUMBER, text="CAST(x AS VARCHAR)", boolean="CAST(x AS INT)", ignores_case=False),
        Dialect(
            "tsql",
            number="CAST(x AS DOUBLE PRECISION)",
            text="CASE WHEN NOT x IS NULL THEN CONCAT(CAST(x AS NVARCHAR(MAX)), N'.') END COLLATE Latin1_General_BIN2",
            boolean="CAST(x AS INT)",
            full_stop=True,
            has_booleans=False,
        ),
        Dialect(
            "mysql",
            number="CAST(x AS DOUBLE)",
            text="CONVERT(x USING utf8mb4) COLLATE utf8mb4_0900_bin",
            boolean="CAST(x AS SIGNED)",
            fence="LIMIT 9223372036854775807",
            not_in_names=r"[^\x01-\uffff]|\s$",
        ),
    )
}
"""The dialects by name."""
