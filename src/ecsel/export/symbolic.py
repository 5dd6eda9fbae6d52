"""`to_sympy`: the model as SymPy expressions in raw units, for algebra and calculus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ecsel.explain.view import ModelView
from ecsel.export.digits import exact_name
from ecsel.export.formula import Base
from ecsel.export.raw_units import formula_of
from ecsel.export.symbolic_program import complete_sympy
from ecsel.signomial.factor import Parity

if TYPE_CHECKING:
    from ecsel.export.formula import Formula, FormulaTerm, Power
    from ecsel.signomial.factor import Exponent

LARGEST_CONSTANT = 300


def to_sympy(
    model: Any, *, output: Literal["probability", "score", "label"] = "probability", complete: bool = False
) -> Any:
    """Return the model as SymPy expressions.

    Symbols are the columns under their own names; ordinal columns as positions of their levels; and indicators, 0 or 1,
    named ``column=level`` and ``column=?`` (missing). `ecsel.export.formula_inputs` reads them from a table. By default
    the expression is the plain formula; with ``complete=True`` it says of every row what the model says.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    output : {"probability", "score", "label"}, default="probability"
        What expressions of a classifier are: probabilities, scores, or (only with `complete`) the position of the
        predicted class.
    complete : bool, default=False
        Whether the rules of the model are part of the expressions, as ``Piecewise``: which rows are refused, where they
        are ``nan``; what a missing value, an unknown level and a value out of range count as; where exponents of e are
        clipped. All symbols are then extended real numbers, and all levels, also ordinal ones, are indicators; use
        ``formula_inputs(model, X, complete=True)`` for them, and ``lambdify(..., cse=True)``.

    Returns
    -------
    sympy.Expr or dict
        The prediction of a regression or the position of the label, or a dict of class label to expression. With a
        sigmoid there is one score, that of the second class.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> to_sympy(Signomial.parse("3*x**2/y"))
    3*x**2/y
    """
    try:
        import sympy  # noqa: PLC0415  # optional and slow to import
    except ImportError as error:
        raise ImportError('to_sympy() needs SymPy: pip install "ecsel[symbolic]"') from error
    if output not in {"probability", "score", "label"}:
        raise ValueError(f"output must be 'probability', 'score' or 'label', not {output!r}")
    view = ModelView.of(model)
    if complete:
        return complete_sympy(sympy, view, output)
    if output == "label":
        raise ValueError("output='label' is a rule of the model: give complete=True as well")
    formula = formula_of(view)
    writer = _Writer(sympy, formula)
    scores = [sympy.Add(*map(writer.term, terms)) for _, terms in formula.scores]
    if formula.link == "identity":
        return scores[0]
    if output == "score":
        return {label: score for (label, _), score in zip(formula.scores, scores, strict=True)}
    if formula.link == "sigmoid":
        scores = [sympy.Integer(0), *scores]
    return {
        label: 1 / sympy.Add(*(_exp(sympy, other - mine) for other in scores))
        for label, mine in zip(formula.classes, scores, strict=True)
    }


def _exp(sympy: Any, operand: Any) -> Any:
    """Return e^operand.

    SymPy takes the exponential of a decimal constant out of it, which may then be larger than any double; it leaves
    that of a fraction where it is.
    """
    constant, rest = operand.as_coeff_Add()
    return sympy.exp(operand if abs(constant) < LARGEST_CONSTANT else rest + sympy.Rational(float(constant)))


class _Writer:
    """Writes the parts of a formula; each name has one symbol, positive where nothing else has a meaning."""

    def __init__(self, sympy: Any, formula: Formula) -> None:
        self.sympy = sympy
        powers = [power for term in formula.terms for power in term.powers]
        positive = {
            power.base.column
            for power in powers
            if power.base == Base(power.base.column) and power.parity is Parity.PLAIN and power.exponent % 2
        }
        self.symbols = {
            name: sympy.Symbol(name, **({"positive": True} if name in positive else {"real": True}))
            for name in [*formula.columns, *formula.indicators]
        }

    def term(self, term: FormulaTerm) -> Any:
        multipliers = (self.number(each.value) ** self.symbols[each.symbol] for each in term.multipliers)
        return self.sympy.Mul(self.number(term.coefficient), *map(self.power, term.powers), *multipliers)

    def power(self, power: Power) -> Any:
        base, exponent = self.base(power.base), self.exponent(power.exponent)
        if power.is_natural:
            return base**exponent
        size = self.sympy.Abs(base) ** exponent
        return self.sympy.sign(base) * size if power.parity is Parity.ODD else size

    def base(self, base: Base) -> Any:
        x = self.symbols[base.column]
        x = x if base.at_least is None else self.sympy.Max(x, self.number(base.at_least))
        x = x if base.at_most is None else self.sympy.Min(x, self.number(base.at_most))
        return x if base.unit is None else (x - self.number(base.origin)) / self.number(base.unit) + 1

    def exponent(self, exponent: Exponent) -> Any:
        return (
            self.number(exponent) if isinstance(exponent, float) else self.sympy.Rational(*exponent.as_integer_ratio())
        )

    def number(self, value: float) -> Any:
        if value.is_integer() and abs(value) < 1e6:
            return self.sympy.Integer(int(value))
        name = exact_name(value)
        if name is None:
            return self.sympy.Float(value)
        return self.sympy.Rational(*name[0].as_integer_ratio()) * self.sympy.pi ** name[1]
