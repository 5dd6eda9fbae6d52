"""The paper's model in raw units as SymPy expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ecsel.export.formula import Base

if TYPE_CHECKING:
    from ecsel.export.formula import Formula, FormulaTerm, Power


def formula_scores(sympy: Any, formula: Formula) -> list[Any]:
    """Return the sum of each score."""
    writer = _Writer(sympy, formula)
    return [sympy.Add(*map(writer.term, terms)) for _, terms in formula.scores]


def sympy_number(sympy: Any, value: float) -> Any:
    """Return a number, a small whole one as such."""
    return sympy.Integer(int(value)) if value.is_integer() and abs(value) < 1e6 else sympy.Float(value)


class _Writer:
    """Writes the parts of a formula; each name has one symbol, positive where nothing else has a meaning."""

    def __init__(self, sympy: Any, formula: Formula) -> None:
        self.sympy = sympy
        powers = [power for term in formula.terms for power in term.powers]
        positive = {
            power.base.column for power in powers if power.base == Base(power.base.column) and power.exponent % 2
        }
        self.symbols = {
            name: sympy.Symbol(name, **({"positive": True} if name in positive else {"real": True}))
            for name in [*formula.columns, *formula.indicators]
        }

    def term(self, term: FormulaTerm) -> Any:
        multipliers = (self.number(each.value) ** self.symbols[each.symbol] for each in term.multipliers)
        return self.sympy.Mul(self.number(term.coefficient), *map(self.power, term.powers), *multipliers)

    def power(self, power: Power) -> Any:
        return self.base(power.base) ** self.number(power.exponent)

    def base(self, base: Base) -> Any:
        x = self.symbols[base.column]
        x = x if base.at_least is None else self.sympy.Max(x, self.number(base.at_least))
        x = x if base.at_most is None else self.sympy.Min(x, self.number(base.at_most))
        return x if base.unit is None else (x - self.number(base.origin)) / self.number(base.unit) + 1

    def number(self, value: float) -> Any:
        return sympy_number(self.sympy, value)
