"""The query of a program: one common table expression per layer, then the answers under their names.

Every name and every text of the user is a node of sqlglot, which quotes it; what is put together here as text are
pieces that sqlglot has written, one column per line. Imported by `to_sql` alone, which says what to install.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ecsel.export.program.writing import fold
from ecsel.export.targets.sql.layers import input_name, layers_of
from ecsel.export.targets.sql.names import ResultNames, check_names
from ecsel.export.targets.sql.rules import as_double, column, name, number, read, rules_of, text
from ecsel.export.targets.sql.text_readers import TextReaders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ecsel.export.program.program import Contribution, Program
    from ecsel.export.targets.sql.dialects import Dialect
    from ecsel.export.targets.sql.rules import Node
    from ecsel.tables import Level

_SOURCE = "source"
"""The alias of the table that is read."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a query is made of.

    Attributes
    ----------
    program
        The program.
    dialect
        The dialect.
    table
        The table, or whatever else can stand behind FROM.
    keep
        The columns that are carried along.
    """

    program: Program
    dialect: Dialect
    table: Node
    keep: tuple[str, ...]

    def sql(self) -> str:
        """Return the text."""
        check_names(self.program, self.keep, self.dialect)
        kept = [_kept_name(j) for j in range(len(self.keep))]
        rules = rules_of(self.dialect)
        prefix = self._free_prefix()
        steps: list[list[str]] = []
        for columns in self._inputs():
            source = exp.Table(this=name(f"{prefix}{len(steps) - 1}")) if steps else _aliased(self.table, _SOURCE)
            steps.append(self._select(columns, source))
        for layer in layers_of(self.program):
            columns = [(each, column(each)) for each in (*kept, *layer.passed)]
            columns += [(variable, as_double(fold(value, rules))) for variable, value in layer.new]
            steps.append(self._select(columns, exp.Table(this=name(f"{prefix}{len(steps) - 1}"))))
        tables = [
            "\n".join([f"{self._written(name(f'{prefix}{n}'))} AS (", *_indented([*step, *self._fence(n)]), ")"])
            for n, step in enumerate(steps)
        ]
        last = self._select(self._results(), exp.Table(this=name(f"{prefix}{len(steps) - 1}")))
        return "\n".join([f"WITH {', '.join(tables)}", *last, ""])

    def _inputs(self) -> Iterator[list[tuple[str, Node]]]:
        """Yield the columns of the first step, or of the first three where text and dates are read."""
        readers = TextReaders(self.program.inputs, self.dialect)
        ready: list[tuple[str, Node]] = [(_kept_name(j), column(each, _SOURCE)) for j, each in enumerate(self.keep)]
        made: list[tuple[str, Node]] = []
        for i, each in enumerate(self.program.inputs):
            node = readers.read(each)
            if node is None:
                ready.append((input_name(i), read(each, _SOURCE, self.dialect)))
            else:
                made.append((input_name(i), node))
        if not made:
            yield ready or [("row", exp.Literal.number(1))]  # a query needs some column
            return
        passed: list[tuple[str, Node]] = [(each, column(each)) for each, _ in ready]
        yield [*ready, *readers.texts(_SOURCE)]
        yield [*passed, *readers.pieces()]
        yield [*passed, *made]

    def _results(self) -> Iterable[tuple[str, Node]]:
        names = ResultNames(self.dialect, self.keep)
        for j, each in enumerate(self.keep):
            yield each, column(_kept_name(j))
        if self.program.decision is None:
            yield names.of("prediction"), column(self.program.outputs[0])
        else:
            yield names.of("label"), self._label(self.program.decision)
            for label, output in zip(self.program.classes, self.program.outputs, strict=True):
                yield names.of("probability", label), column(output)
        for contribution in self.program.contributions:
            words = self._heading(contribution)
            yield (
                names.of(contribution.base_noun, *words),
                as_double(exp.Null() if contribution.base_value is None else number(contribution.base_value)),
            )
            for raw, variable in contribution.by_column:
                yield names.of(contribution.noun, *words, raw), column(variable)

    def _heading(self, contribution: Contribution) -> list[Level]:
        """Return the words of a name that say which score is explained, if there are several."""
        label: list[Level] = [contribution.label] if len(self.program.scores) > 1 else []
        return label if contribution.term is None else [*label, contribution.term]

    def _label(self, decision: str) -> Node:
        values = self._label_values()
        ifs = [
            exp.If(this=exp.EQ(this=column(decision), expression=exp.Literal.number(c)), true=value)
            for c, value in enumerate(values)
        ]
        return exp.Case(ifs=ifs)

    def _label_values(self) -> Sequence[Node]:
        """Return the class labels in one type, as a column needs it."""
        classes = self.program.classes
        if any(isinstance(label, str) for label in classes):
            return [text(str(label), self.dialect) for label in classes]
        if all(isinstance(label, bool) for label in classes):
            if self.dialect.has_booleans:
                return [exp.Boolean(this=label) for label in classes]
            return [exp.cast(exp.Literal.number(int(label)), "boolean") for label in classes]
        if all(isinstance(label, int) for label in classes):
            return [exp.Literal.number(int(label)) for label in classes]
        return [as_double(number(float(label))) for label in classes]

    def _select(self, columns: Iterable[tuple[str, Node]], source: Node) -> list[str]:
        """Return the lines of a query; a line that has text of the user may go over several."""
        *written, last = (self._written(_named(node, alias)) for alias, node in columns)
        return ["SELECT", *_indented([*(f"{each}," for each in written), last]), f"FROM {self._written(source)}"]

    def _written(self, node: Node) -> str:
        return node.sql(self.dialect.name, comments=False, copy=False)

    def _fence(self, n: int) -> list[str]:
        return [self.dialect.fence] if n and self.dialect.fence else []

    def _free_prefix(self) -> str:
        """Return how the names of the layers begin: as no table in the user's part of the query does."""
        taken = [each.name.lower() for each in self.table.find_all(exp.Table, exp.TableAlias)]
        prefix = "ecsel_"
        while any(each.startswith(prefix) for each in taken):
            prefix += "_"
        return prefix


def _named(node: Node, alias: str) -> Node:
    is_named = isinstance(node, exp.Column) and not node.table and node.name == alias
    return node if is_named else exp.Alias(this=node, alias=name(alias))


def _kept_name(j: int) -> str:
    return f"keep{j}"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _aliased(table: Node, alias: str) -> Node:
    return exp.alias_(table, name(alias), table=True)


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
