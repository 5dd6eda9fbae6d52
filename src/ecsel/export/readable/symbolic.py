"""`to_sympy`: the model as SymPy expressions, for algebra and calculus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ecsel.explain.view import ModelView
from ecsel.export.readable.digits import exact_name
from ecsel.export.readable.formula import Base
from ecsel.export.readable.raw_units import formula_of, positive_encoder
from ecsel.signomial import Signomial, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel.export.readable.formula import Formula, FormulaTerm, Power

LARGEST_CONSTANT = 300


def to_sympy(model: Any, *, output: Literal["probability", "score"] = "probability") -> Any:
    """Return the model as SymPy expressions.

    Symbols are the features of the equations under their own names: columns, ordinal columns as positions of their
    levels, and indicators such as ``[city = Oslo]``. `ecsel.export.formula_inputs` reads them from a table, with the
    rules of the model, which `to_text` says in words. The paper's model is written in raw units instead: columns, and
    indicators ``column=level`` and ``column=?``. SymPy knows neither missing values nor text: the whole program of a
    model, with every rule, is what `ecsel.export.to_python` writes.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    output : {"probability", "score"}, default="probability"
        What expressions of a classifier are.

    Returns
    -------
    sympy.Expr or dict
        The prediction of a regression, or a dict of class label to expression. With a sigmoid there is one score, that
        of the second class.

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
    if output not in {"probability", "score"}:
        raise ValueError(f"output must be 'probability' or 'score', not {output!r}")
    view = ModelView.of(model)
    encoder = positive_encoder(view)
    if encoder is not None:
        scores = _formula_scores(sympy, formula_of(view, encoder))
    else:
        scores = _equations(sympy, view.terms.to_signomials(view.feature_names), is_law=not view.has_classes)
    if not view.has_classes:
        return scores[0]
    if output == "score":
        return dict(zip(view.score_classes, scores, strict=True))
    if view.link.has_reference:
        scores = [sympy.Integer(0), *scores]
    return {
        label: 1 / sympy.Add(*(_exp(sympy, other - mine) for other in scores))
        for label, mine in zip(view.classes, scores, strict=True)
    }


def _exp(sympy: Any, operand: Any) -> Any:
    """Return e^operand, as it is: SymPy would take logarithms and constants out of it, and with them their digits.

    When an expression is changed later SymPy does so, and of a decimal constant the exponential may then be larger than
    any double; it leaves that of a fraction where it is.
    """
    constant, rest = operand.as_coeff_Add()
    exact = operand if abs(constant) < LARGEST_CONSTANT else rest + sympy.Rational(float(constant))
    return sympy.exp(exact, evaluate=exact == 0)


def _equations(sympy: Any, equations: Sequence[Signomial], *, is_law: bool) -> list[Any]:
    """Return the equations, all in the same symbols; coefficients of a law are exact where they have a name."""

    def number(value: float) -> Any:
        name = exact_name(value) if is_law else None
        if name is None:
            return _number(sympy, value)
        return sympy.Rational(*name[0].as_integer_ratio()) * sympy.pi ** name[1]

    # what refuses negative numbers anywhere has a positive symbol everywhere
    together = Signomial(Term.from_factors(1.0, term.factors) for each in equations for term in each.terms).to_sympy()
    symbols = {symbol.name: symbol for symbol in together.free_symbols}

    def product(term: Term) -> Any:
        _, unit = Signomial([Term.from_factors(1.0, term.factors)]).to_sympy().as_coeff_Mul()  # without 1.0
        return number(term.coefficient) * unit.xreplace({each: symbols[each.name] for each in unit.free_symbols})

    return [sympy.Add(*map(product, each.terms)) for each in equations]


def _formula_scores(sympy: Any, formula: Formula) -> list[Any]:
    """Return the scores of the paper's model in raw units."""
    writer = _Writer(sympy, formula)
    return [sympy.Add(*map(writer.term, terms)) for _, terms in formula.scores]


def _number(sympy: Any, value: float) -> Any:
    """Return a number, a small whole one as such."""
    return sympy.Integer(int(value)) if value.is_integer() and abs(value) < 1e6 else sympy.Float(value)


class _Writer:
    """Writes the parts of such a formula; each name has one symbol, positive where nothing else has a meaning."""

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
        return _number(self.sympy, value)
