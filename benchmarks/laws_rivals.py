"""Rivals on a tenth of the tables of laws: gplearn, pyoperon, eggp and HROCH beside this library.

Every tenth table, counted over all groups in their order, so that nobody chose them. Each program gets 60 s of
processor time on one thread, a table whose columns and target are divided by their root mean squares (which changes no
exponent, and spares rivals the magnitudes of SI units), and the operators of signomials. pyoperon is also told the
standard deviation of the noise, which it needs. A program that reaches the noise of the target stops early.

A printed equation is expanded by SymPy, terms below the noise (without noise, below a thousandth of the target) are
dropped, and what is left must be the true monomials, exponents to 0.02; coefficients are not judged. This library is
judged by its terms as in `laws.csv`: exactly.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.capped import run_capped
from benchmarks.laws_data import FIRST_REPORTED, GROUPS, is_found
from benchmarks.results import FOLDER, ResultFile, markdown_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from benchmarks.laws_data import Task

    Floats = NDArray[np.float64]
    Stop = Callable[[Floats], bool]

FILE = ResultFile(FOLDER / "laws_rivals.csv", ("method", "group", "name", "seed"))
SECONDS = 60.0
PATIENCE = 5.0
"""Processor seconds above the limit after which a program that does not stop by itself is ended."""
EVERY = 10
SLICE = 10
"""Seconds between two looks at the clock, for programs whose own limit is wall time."""
MIN_SHARE = 1e-3
TOLERANCE = 0.02
OURS = "ecsel"


@dataclass(frozen=True)
class Scaled:
    """A table with columns and target in units of their root mean squares, and the noise in it."""

    X: Floats
    y: Floats
    noise: float

    @classmethod
    def of(cls, task: Task) -> Scaled:
        """Return the scaled table of a task."""
        values = task.table.to_numpy(dtype=float)
        top = np.abs(values).max(axis=0)
        size = np.sqrt(np.mean((values / top) ** 2, axis=0))
        peak = float(np.abs(task.target).max())
        scale = peak * float(np.sqrt(np.mean((task.target / peak) ** 2)))
        clean = np.sum([term.evaluate(task.table) for term in task.terms], axis=0)
        noise = float(np.sqrt(np.mean(((task.target - clean) / scale) ** 2)))
        return cls(values / top / size, task.target / scale, max(noise, 1e-9))

    def is_reached(self, values: Floats) -> bool:
        """Return whether a fit has come down to the noise."""
        error = float(np.sqrt(np.mean((self.y - values) ** 2)))
        return error <= max(1.02 * self.noise, 1e-6)


def gplearn(table: Scaled, seed: int) -> str:
    """Evolve with gplearn in rounds of five generations."""
    from gplearn.genetic import SymbolicRegressor

    from benchmarks.recovery_rivals import _infix

    model = SymbolicRegressor(
        population_size=1000, generations=5, function_set=("add", "sub", "mul", "div", "sqrt"),
        parsimony_coefficient=1e-4, metric="mse", random_state=seed, warm_start=True, const_range=(-5.0, 5.0),
    )  # fmt: skip
    end = time.process_time() + SECONDS
    while True:
        model.fit(table.X, table.y)
        if time.process_time() > end or table.is_reached(model.predict(table.X)):
            return _infix(str(model._program))  # noqa: SLF001 - gplearn has no public name for it
        model.set_params(generations=model.generations + 5)


def pyoperon(table: Scaled, seed: int) -> str:
    """Evolve with pyoperon, each slice from the population of the one before."""
    from pyoperon.sklearn import SymbolicRegressor

    model = SymbolicRegressor(
        allowed_symbols="add,sub,mul,div,constant,variable,pow,sqrt", max_time=SLICE, generations=100_000,
        max_evaluations=10**9, n_threads=1, random_state=seed, optimizer_iterations=5, max_length=40,
        objectives=["r2", "length"], uncertainty=[table.noise], warm_start=True,
    )  # fmt: skip
    end = time.process_time() + SECONDS
    while True:
        model.fit(table.X, table.y)
        if time.process_time() > end or table.is_reached(model.predict(table.X)):
            break
    text = str(model.get_model_string(model.model_, precision=12))
    for j in range(table.X.shape[1], 0, -1):
        text = text.replace(f"X{j}", f"x{j - 1}")
    return text.replace("^", "**")


def eggp(table: Scaled, seed: int) -> str:
    """Run eggp with its default generations again and again; of all its fronts the shortest description wins.

    It has no seed, and its own time limit is wall time. Its Gaussian loss fits the noise, without which its description
    lengths take the noise to be one.
    """
    del seed
    os.environ["GHCRTS"] = "-N1"
    from eggp import EGGP

    end, best, text = time.process_time() + SECONDS, np.inf, "0"
    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(folder)  # it may write files where it runs
        try:
            while time.process_time() < end:
                model = EGGP(
                    gen=100, nPop=100, maxSize=40, nonterminals="add,sub,mul,div,powerabs,sqrtabs", loss="Gaussian",
                    max_time=60,
                )  # fmt: skip
                model.fit(table.X, table.y)
                lengths = np.asarray(model.results["dl_train"], dtype=float)
                i = int(np.nanargmin(lengths))
                if lengths[i] < best:
                    best, row = float(lengths[i]), model.results.iloc[i]
                    text = _with_numbers(str(row["Numpy"]), str(row["theta"]), table.X.shape[1])
                    if table.is_reached(np.asarray(model.evaluate_model(i, table.X), dtype=float)):
                        break
        finally:
            os.chdir(here)
    return text


def _with_numbers(text: str, theta: str, n_columns: int) -> str:
    """Return eggp's NumPy text with its numbers put in and its functions by the names of SymPy."""
    for i, value in reversed(list(enumerate(v for v in theta.split(";") if v))):
        text = text.replace(f"t[{i}]", f"({value})")
    for j in reversed(range(n_columns)):
        text = text.replace(f"x[:, {j}]", f"x{j}")
    return text.replace("np.reciprocal(", "1/(").replace("np.abs", "Abs").replace("np.", "")


def hroch(table: Scaled, seed: int) -> str:
    """Evolve with HROCH, each slice from the solver of the one before."""
    from HROCH import SymbolicRegressor
    from sklearn.utils.validation import validate_data

    class Model(SymbolicRegressor):  # type: ignore[misc]
        """HROCH 1.4 asks for two names that scikit-learn no longer has."""

        _estimator_type = "regressor"

        def _validate_data(self, *tables: Any, **options: Any) -> Any:
            return validate_data(self, *tables, **options)

    model = Model(
        time_limit=float(SLICE), precision="f64", random_state=seed, warm_start=True,
        problem={"nop": 1.0, "add": 10.0, "sub": 10.0, "mul": 10.0, "div": 10.0, "pow": 5.0, "sqrt": 5.0},
    )  # fmt: skip
    end = time.process_time() + SECONDS
    while True:
        model.fit(table.X, table.y)
        if time.process_time() > end or table.is_reached(np.asarray(model.predict(table.X), dtype=float)):
            return str(model.equation)


RIVALS: dict[str, tuple[str, Callable[[Scaled, int], str]]] = {
    "gplearn": ("gplearn", gplearn),
    "pyoperon": ("pyoperon", pyoperon),
    "eggp": ("eggp", eggp),
    "HROCH": ("HROCH", hroch),
}
"""Each rival with the module that it needs."""


def tenth() -> Iterator[Task]:
    """Yield every tenth table of all groups in their order."""
    return islice((task for tasks in GROUPS.values() for task in tasks(FIRST_REPORTED)), 0, None, EVERY)


def is_same_law(task: Task, table: Scaled, text: str) -> bool:
    """Return whether a printed equation has the true monomials and, above the noise, no others."""
    import sympy

    names = list(task.table.columns)
    positive = (task.table > 0).all()
    symbols = {
        f"x{j}": sympy.Symbol(f"x{j}", positive=True) if positive[name] else sympy.Symbol(f"x{j}", real=True)
        for j, name in enumerate(names)
    }
    try:
        whole = sympy.sympify(text, locals=symbols)
        expanded = sympy.expand(sympy.powsimp(sympy.expand_power_base(whole, force=True)))
    except (sympy.SympifyError, TypeError, ValueError, RecursionError, SyntaxError):
        return False
    found: list[dict[str, float]] = []
    threshold = max(table.noise, MIN_SHARE)
    for term in sympy.Add.make_args(expanded):
        with np.errstate(all="ignore"):
            value = np.asarray(sympy.lambdify(list(symbols.values()), term, "numpy")(*table.X.T), dtype=complex)
        size = float(np.sqrt(np.mean(np.abs(np.broadcast_to(value, len(table.y))) ** 2)))
        if size < threshold:
            continue
        powers = _powers(term.as_coeff_Mul()[1], names)
        if powers is None:
            return False
        found.append(powers)
    return _matches(task, found)


def _powers(monomial: Any, names: list[str]) -> dict[str, float] | None:
    """Return the exponents of a product of powers, None where it is none."""
    powers: dict[str, float] = {}
    for base, power in monomial.as_powers_dict().items():
        if not base.free_symbols:
            continue
        inner = base.args[0] if base.func.__name__ == "Abs" else base
        if not (inner.is_Symbol and power.is_number and power.is_real):
            return None
        name = names[int(str(inner)[1:])]
        powers[name] = powers.get(name, 0.0) + float(power)
    return {name: power for name, power in powers.items() if abs(power) > TOLERANCE}


def _matches(task: Task, found: list[dict[str, float]]) -> bool:
    left = list(found)
    for term in task.terms:
        hit = next(
            (
                f
                for f in left
                if set(f) == set(term.powers) and all(abs(f[n] - p) <= TOLERANCE for n, p in term.powers.items())
            ),
            None,
        )
        if hit is None:
            return False
        left.remove(hit)
    return not left


@dataclass(frozen=True)
class Cell:
    """One program on one table."""

    method: str
    task: Task

    @property
    def key(self) -> dict[str, object]:
        """What identifies it in the file."""
        return {"method": self.method, "group": self.task.group, "name": self.task.name, "seed": self.task.seed}


def _run(cell: Cell) -> dict[str, object]:
    from threadpoolctl import threadpool_limits

    started = time.process_time()
    with threadpool_limits(1):
        if cell.method == OURS:
            from ecsel import ECSELRegressor

            model = ECSELRegressor(random_state=cell.task.seed).fit(cell.task.table, cell.task.target)
            seconds = time.process_time() - started
            found, text = is_found(cell.task, model), format(model.equation_, ".4g")
        else:
            table = Scaled.of(cell.task)
            text = RIVALS[cell.method][1](table, cell.task.seed)
            seconds = time.process_time() - started
            found = is_same_law(cell.task, table, text)
    return {"found": int(found), "cpu_seconds": seconds, "law": text[:500]}


def measure(*, fresh: bool) -> None:
    """Measure what is missing, table by table, with the rivals that are installed."""
    methods = [OURS, *(name for name, (module, _) in RIVALS.items() if find_spec(module) is not None)]
    cells = [Cell(method, task) for task in tenth() for method in methods]
    wanted = [cell for cell in cells if fresh or cell.key not in FILE]
    for done in run_capped(wanted, _run, 2.0 * SECONDS + PATIENCE):
        row = done.result or {"found": 0, "cpu_seconds": 2.0 * SECONDS + PATIENCE, "law": "ended"}
        if done.error:
            row = {**row, "law": f"failed: {done.error.strip().splitlines()[-1][:200]}"}
        FILE.put({**done.item.key, "terms": len(done.item.task.terms), "visible": int(done.item.task.visible), **row})


def report() -> str:
    """Write the figures as a page and return it."""
    if not FILE.rows:
        return ""
    tables = [Cell(OURS, task) for task in tenth()]
    table = []
    for method in [OURS, *RIVALS]:
        rows = [row for row in FILE.rows if row["method"] == method]
        if not rows:
            table.append({"method": method, "tables": "0", "one": "", "more": "", "cpu": ""})
            continue
        one, more = ([r for r in rows if (r["terms"] == "1") == single] for single in (True, False))
        cpu = [float(row["cpu_seconds"]) for row in rows]
        table.append(
            {
                "method": method,
                "tables": f"{len(rows)}",
                "one": f"{sum(r['found'] == '1' for r in one)} of {len(one)}",
                "more": f"{sum(r['found'] == '1' for r in more)} of {len(more)}",
                "cpu": f"{np.median(cpu):.0f}",
            }
        )
    headings = {
        "method": "program",
        "tables": "tables measured",
        "one": "found, one term",
        "more": "found, more terms",
        "cpu": "median CPU s",
    }
    complete = [cell for cell in tables if all({**cell.key, "method": m} in FILE for m in [OURS, *RIVALS])]
    shared = {
        m: sum((FILE.get({**cell.key, "method": m}) or {}).get("found") == "1" for cell in complete)
        for m in [OURS, *RIVALS]
    }
    missing = (
        "" if len(complete) == len(tables) else f" The other {len(tables) - len(complete)} are not measured by all."
    )
    text = f"""# Rivals on laws

Written by `python -m benchmarks laws --rivals`, which goes on where it was ended; every cell is in `laws_rivals.csv`.

{(__doc__ or "").partition(chr(10))[2].strip()}

{markdown_table(table, headings)}

All five have been run on {len(complete)} of the {len(tables)} tables.{missing} Found there:
{", ".join(f"{m} {n}" for m, n in shared.items())}.
"""
    (FOLDER / "laws_rivals.md").write_text(text, encoding="utf-8")
    return text
