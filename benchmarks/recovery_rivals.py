"""gplearn and pyoperon on twelve of the equations, each free and restricted to the operators of signomials.

Every rival gets the same rows and 60 s; pyoperon is told the standard deviation of the noise, which we are not. A
returned expression is judged through SymPy: expanded, terms whose share of the target is below one sigma dropped, then
the same strict criterion; so a rival is not blamed for small change.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.recovery_data import NOISE

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from benchmarks.recovery_data import Equation

TWELVE = (
    "I.12.1", "I.12.2", "I.32.5", "I.47.23", "II.11.20", "III.15.14",
    "I.13.4", "I.24.6", "II.36.38", "Jin-1", "Korns-2", "Livermore-16",
)  # fmt: skip
SECONDS = 60.0


def gplearn(X: NDArray[np.float64], y: NDArray[np.float64], seed: int, *, restricted: bool) -> str:
    """Evolve with gplearn in rounds until the time is over; return Python text in x0, x1, ..."""
    from gplearn.genetic import SymbolicRegressor

    functions = ["add", "sub", "mul", "div"] + ([] if restricted else ["sqrt", "log", "sin", "cos"])
    model = SymbolicRegressor(
        population_size=1000, generations=5, function_set=tuple(functions), parsimony_coefficient=1e-4,
        stopping_criteria=1e-4, metric="mse", random_state=seed, warm_start=True, const_range=(-15.0, 15.0),
    )  # fmt: skip
    end = time.monotonic() + SECONDS
    while True:
        model.fit(X, y)
        program = model._program  # noqa: SLF001 - gplearn has no public name for it
        if time.monotonic() > end or program.raw_fitness_ <= 1.2e-4:
            return _infix(str(program))
        model.set_params(generations=model.generations + 5)


def pyoperon(X: NDArray[np.float64], y: NDArray[np.float64], seed: int, *, restricted: bool) -> str:
    """Evolve with pyoperon for the given time; return Python text in x0, x1, ..."""
    from pyoperon.sklearn import SymbolicRegressor

    symbols = "add,sub,mul,div,constant,variable" + (",pow" if restricted else ",sqrt,log,sin,cos,exp")
    model = SymbolicRegressor(
        allowed_symbols=symbols, max_time=int(SECONDS), generations=100_000, max_evaluations=10**9, n_threads=1,
        random_state=seed, optimizer_iterations=5, max_length=40, objectives=["r2", "length"],
        uncertainty=[NOISE],  # it chooses from its front by a description length that needs the noise; its default is 1
    )  # fmt: skip
    model.fit(X, y)
    text = str(model.get_model_string(model.model_, precision=12))
    for j in range(X.shape[1], 0, -1):
        text = text.replace(f"X{j}", f"x{j - 1}")
    return str(text.replace("^", "**"))


RIVALS: dict[str, Callable[..., str]] = {"gplearn": gplearn, "pyoperon": pyoperon}


def _infix(program: str) -> str:
    """Return gplearn's prefix program as infix Python text."""
    import re

    tokens = re.findall(r"[A-Za-z_]\w*|-?\d+\.?\d*(?:e-?\d+)?|[(),]", program)
    tokens = [t for t in tokens if t != ","]
    operators = {"add": "+", "sub": "-", "mul": "*", "div": "/"}

    def read() -> str:
        head = str(tokens.pop(0))
        if not tokens or tokens[0] != "(":
            return head.lower() if head.startswith("X") else head
        tokens.pop(0)
        arguments = []
        while tokens[0] != ")":
            arguments.append(read())
        tokens.pop(0)
        if head in operators:
            return f"({f' {operators[head]} '.join(arguments)})"
        return f"{head}({', '.join(arguments)})"

    return read()


def is_recovered(equation: Equation, text: str, X: NDArray[np.float64]) -> bool:
    """Validator an expression by the strict criterion after expanding it and dropping terms below one sigma."""
    import sympy

    names = {f"x{j}": name for j, name in enumerate(equation.columns)}
    symbols = {
        f"x{j}": sympy.Symbol(f"x{j}", positive=low >= 0) for j, (low, _) in enumerate(equation.columns.values())
    }
    try:
        expanded = sympy.expand(sympy.powsimp(sympy.sympify(text, locals=symbols)))
    except (sympy.SympifyError, TypeError, ValueError, RecursionError):
        return False
    found = []
    for term in sympy.Add.make_args(expanded):
        coefficient, monomial = term.as_coeff_Mul()
        powers = {str(base): power for base, power in monomial.as_powers_dict().items() if base.free_symbols}
        size = sympy.lambdify(list(symbols.values()), term, "numpy")(*X.T)
        if np.sqrt(np.mean(np.broadcast_to(np.asarray(size, dtype=float), len(X)) ** 2)) < 0.01:
            continue
        found.append((float(coefficient), {names.get(b, b): power for b, power in powers.items()}))
    return _matches(equation, found)


def _matches(equation: Equation, found: list[tuple[float, dict[str, Any]]]) -> bool:
    left = list(found)
    for term in equation.terms:
        powers = {name: float(Fraction(p)) for name, p in term["powers"].items()}
        hit = next(
            (
                f
                for f in left
                if set(f[1]) == set(powers)
                and all(abs(float(f[1][n]) - p) < 1e-3 for n, p in powers.items())
                and abs(f[0] - term["coefficient"]) <= 0.01 * abs(term["coefficient"])
            ),
            None,
        )
        if hit is None:
            return False
        left.remove(hit)
    return not left
