"""Data of the benchmark of laws: every row of its table as a generator with a fixed seed.

A `Task` is one table with the terms of its law. The seeds below `FIRST_REPORTED` were used while the search was
written; figures are reported on those from it on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ecsel import ECSELRegressor

    Floats = NDArray[np.float64]

FIRST_REPORTED = 100
POWERS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0)
"""Exponents of the random signomials."""
STRONG = 10.0
"""|t| that every true term must have in the true fit, for a random signomial to count."""


@dataclass(frozen=True)
class Monomial:
    """A coefficient and the exponents of the columns that take part."""

    coefficient: float
    powers: dict[str, float]

    def evaluate(self, table: pd.DataFrame) -> Floats:
        """Return its values; a whole power keeps the sign of its column."""
        value = np.full(len(table), self.coefficient)
        for name, power in self.powers.items():
            x = table[name].to_numpy()
            value = value * (x**power if power == int(power) else np.abs(x) ** power)
        return value


@dataclass(frozen=True)
class Task:
    """One table, the terms of its law, and whether every term is visible in it."""

    group: str
    name: str
    seed: int
    table: pd.DataFrame
    target: Floats
    terms: tuple[Monomial, ...]
    visible: bool = True
    options: dict[str, Any] = field(default_factory=dict)


def is_found(task: Task, model: ECSELRegressor) -> bool:
    """Return whether a model has exactly the true monomials; a real exponent may be off by 0.005 or three errors."""
    left = list(enumerate(model.law_.terms))
    errors: dict[tuple[int, str | None], float] = {
        (p.term, p.feature): p.standard_error for p in model.law_.parameters if p.feature is not None
    }
    if len(left) != len(task.terms):
        return False
    for true in task.terms:
        hit = next(((i, t) for i, t in left if _same(true, i, dict(t.exponents), errors)), None)
        if hit is None:
            return False
        left.remove(hit)
    return True


def _same(true: Monomial, i: int, exponents: dict[str, Any], errors: dict[tuple[int, str | None], float]) -> bool:
    if set(exponents) != set(true.powers):
        return False
    for name, power in true.powers.items():
        exact = any(abs(power - float(Fraction(power).limit_denominator(q))) < 1e-12 for q in (1, 2, 3, 4, 5))
        allowed = 1e-9 if exact else max(0.005, 3.0 * errors.get((i, name), 0.0))
        if abs(float(exponents[name]) - power) > allowed:
            return False
    return True


@cache
def _listed() -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "laws_equations.json").read_text(encoding="utf-8")
    return list(json.loads(text)["equations"])


def _draw(rng: np.random.Generator, n: int, low: float, high: float, kind: str, signs: str) -> Floats:
    if kind == "log":
        x = np.exp(rng.uniform(np.log(low), np.log(high), n))
    elif kind == "int":
        x = rng.integers(int(low), int(high), n, endpoint=True).astype(float)
    else:
        x = rng.uniform(low, high, n)
    return x * rng.choice([-1.0, 1.0], n) if signs == "both" else x


def srsd(group: str, share: float, seed: int) -> Iterator[Task]:
    """Yield the 46 signomial equations of SRSD-Feynman on 200 rows, with noise in proportion to the value."""
    for number, equation in enumerate(_listed()):
        rng = np.random.default_rng([seed, number])
        table = pd.DataFrame({name: _draw(rng, 200, *column) for name, column in equation["columns"].items()})
        terms = tuple(
            Monomial(t["coefficient"], {name: float(Fraction(b)) for name, b in t["powers"].items()})
            for t in equation["terms"]
        )
        clean = np.sum([t.evaluate(table) for t in terms], axis=0)
        target = clean * (1.0 + share * rng.standard_normal(200))
        visible = _all_strong(table, target, terms, relative=True)
        yield Task(group, equation["name"], seed, table, target, terms, visible)


ONE = (Monomial(2.5, {"a": 1.5, "b": -0.5}),)
TWO = (*ONE, Monomial(0.7, {"c": 2.0}))


def _relative(clean: Floats, rng: np.random.Generator) -> Floats:
    return clean * (1.0 + 0.1 * rng.standard_normal(len(clean)))


def _lognormal(clean: Floats, rng: np.random.Generator) -> Floats:
    return np.asarray(clean * np.exp(0.5 * rng.standard_normal(len(clean))))


def _outliers(share: float) -> Callable[[Floats, np.random.Generator], Floats]:
    def contaminated(clean: Floats, rng: np.random.Generator) -> Floats:
        y: Floats = clean + 0.02 * np.sqrt(np.mean(clean**2)) * rng.standard_normal(len(clean))
        rows = rng.choice(len(y), round(share * len(y)), replace=False)
        shift = rng.uniform(3.0, 10.0, len(rows)) * rng.choice([-1.0, 1.0], len(rows)) * clean.std()
        y[rows] += shift
        return y

    return contaminated


def two_laws(
    group: str, noise: Callable[[Floats, np.random.Generator], Floats], seed: int, n_rows: int = 100
) -> Iterator[Task]:
    """Yield a law of one term and one of two, each on four samples of so many rows."""
    for name, terms in (("one term", ONE), ("two terms", TWO)):
        for draw in range(seed, seed + 4):
            rng = np.random.default_rng([draw, len(terms)])
            table = pd.DataFrame({c: rng.uniform(0.5, 5.0, n_rows) for c in ("a", "b", "c")})
            clean = np.sum([t.evaluate(table) for t in terms], axis=0)
            yield Task(group, name, draw, table, noise(clean, rng), terms)


def kepler(seed: int) -> Iterator[Task]:
    """Yield orbits in astronomical units with 2 % multiplicative noise, and two columns that have no part."""
    for draw in range(seed, seed + 4):
        rng = np.random.default_rng(draw)
        table = pd.DataFrame(
            {
                "a": np.exp(rng.uniform(np.log(0.05), np.log(30.0), 150)),
                "M": np.exp(rng.uniform(np.log(0.3), np.log(2.5), 150)),
                "e": rng.uniform(0.0, 0.7, 150),
                "m": np.exp(rng.uniform(np.log(0.01), np.log(10.0), 150)),
            }
        )
        terms = (Monomial(1.0, {"a": 1.5, "M": -0.5}),)
        target = terms[0].evaluate(table) * (1.0 + 0.02 * rng.standard_normal(150))
        yield Task("kepler", "period", draw, table, target, terms)


def signomials(group: str, sizes: tuple[int, int], *, mixed: bool, count: int, seed: int) -> Iterator[Task]:
    """Yield random sums of terms with similar spread; in `mixed` ones every second column has both signs."""
    for draw in range(seed, seed + count):
        rng = np.random.default_rng([draw, sizes[0], int(mixed)])
        n_terms, m = int(rng.integers(sizes[0], sizes[1] + 1)), int(rng.integers(1, 9))
        n, share = int(rng.choice([50, 200, 1000])), float(rng.choice([0.0, 0.01, 0.01, 0.05]))
        names = [f"x{j}" for j in range(m)]
        signed = [mixed and j % 2 == 0 for j in range(m)]
        table = pd.DataFrame(
            {
                c: rng.uniform(-3.0, 3.0, n) if s else rng.uniform(0.5, 5.0, n)
                for c, s in zip(names, signed, strict=True)
            }
        )
        real = rng.random() < 0.15
        terms = _terms(rng, table, dict(zip(names, signed, strict=True)), n_terms, real=real)
        clean = np.sum([t.evaluate(table) for t in terms], axis=0)
        target = clean + share * np.sqrt(np.mean(clean**2)) * rng.standard_normal(n)
        yield Task(group, f"{len(terms)} terms", draw, table, target, terms, _all_strong(table, target, terms))


def _terms(
    rng: np.random.Generator, table: pd.DataFrame, signed: dict[str, bool], n_terms: int, *, real: bool
) -> tuple[Monomial, ...]:
    found: dict[frozenset[tuple[str, float]], Monomial] = {}
    for _ in range(50 * n_terms):
        if len(found) == n_terms:
            break
        chosen = rng.choice(list(signed), int(rng.integers(1, min(3, len(signed)) + 1)), replace=False)
        powers = {str(c): float(rng.choice((1.0, 2.0, 3.0) if signed[c] else POWERS)) for c in chosen}
        if real:
            powers = {c: p if signed[c] else round(float(rng.uniform(-2.0, 3.0)), 2) or 1.0 for c, p in powers.items()}
        std = float(Monomial(1.0, powers).evaluate(table).std())
        size = float(np.exp(rng.uniform(np.log(0.3), np.log(3.0)))) * float(rng.choice([-1.0, 1.0])) / std
        found.setdefault(frozenset(powers.items()), Monomial(float(f"{size:.3g}"), powers))
    return tuple(found.values())


def _all_strong(table: pd.DataFrame, target: Floats, terms: tuple[Monomial, ...], *, relative: bool = False) -> bool:
    """Return whether each true term has a |t| above `STRONG` in the true fit, weighted where the noise is relative."""
    design = np.column_stack([t.evaluate(table) for t in terms])
    if relative:
        seen = target != 0
        design, target = design[seen] / target[seen, None], np.ones(int(seen.sum()))
    norm = np.sqrt((design**2).sum(axis=0))
    design = design / norm
    if np.linalg.matrix_rank(design) < len(terms):
        return False
    coefficients = np.linalg.lstsq(design, target, rcond=None)[0]
    residual = target - design @ coefficients
    variance = max(float(residual @ residual) / (len(target) - len(terms)), (1e-15 * float(np.abs(target).max())) ** 2)
    error = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * variance)
    return bool(np.all(np.abs(coefficients) > STRONG * error) and np.allclose(coefficients, norm, rtol=0.5))


def _random(kind: str, low: int, high: int) -> Callable[[int], Iterator[Task]]:
    group = f"{kind}, {low}-{high} terms"
    return lambda s: signomials(group, (low, high), mixed=kind == "both signs", count=20, seed=s)


GROUPS: dict[str, Callable[[int], Iterator[Task]]] = {
    "srsd, 1 % noise": lambda s: srsd("srsd, 1 % noise", 0.01, s),
    "srsd, no noise": lambda s: srsd("srsd, no noise", 0.0, s),
    "relative noise of 10 %": lambda s: two_laws("relative noise of 10 %", _relative, s),
    "lognormal noise of 50 %": lambda s: two_laws("lognormal noise of 50 %", _lognormal, s),
    "lognormal noise of 50 %, 1000 rows": lambda s: two_laws("lognormal noise of 50 %, 1000 rows", _lognormal, s, 1000),
    "outliers in 2 %": lambda s: two_laws("outliers in 2 %", _outliers(0.02), s),
    "outliers in 5 %": lambda s: two_laws("outliers in 5 %", _outliers(0.05), s),
    "kepler": kepler,
    **{
        f"{kind}, {low}-{high} terms": _random(kind, low, high)
        for kind in ("positive", "both signs")
        for low, high in ((1, 2), (3, 4), (5, 6), (7, 8))
    },
}
"""Each group of the table with its generator, which takes the first seed."""


def coverage_draws(count: int = 150) -> Iterator[tuple[Task, str, dict[str, float]]]:
    """Yield tables of a known form with 10 % relative noise, the form, and its true constants."""
    truth = {"k": 2.5, "p": 1.5, "q": -0.5}
    for draw in range(FIRST_REPORTED, FIRST_REPORTED + count):
        rng = np.random.default_rng([draw, 3])
        table = pd.DataFrame({c: rng.uniform(0.5, 5.0, 100) for c in ("a", "b")})
        clean = ONE[0].evaluate(table)
        yield Task("coverage", "form", draw, table, _relative(clean, rng), ONE), "k*a**p*b**q", truth
