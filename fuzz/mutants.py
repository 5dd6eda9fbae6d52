"""Named mutants: one changed line each, and the test file that must fail with it. Run with ``make mutants``.

These are the changes that once went unnoticed. Every one is made in a copy of the package, never in the sources.
``python -m fuzz.mutants --random 40`` draws new ones, each for the test file that mirrors its module; of those that
survive a person must say which change nothing that can be seen.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Mutant(NamedTuple):
    """A line as it is, what it becomes, and who must notice."""

    file: str
    line: str
    changed: str
    test: str


MUTANTS = (
    Mutant(
        "explain/shapley.py",
        'classes=view.score_classes if output == "score" else view.classes,',
        "classes=view.classes,",
        "tests/explain/test_shapley.py",
    ),
    Mutant(
        "signomial/properties/shapley.py",
        "rows.is_positive(used) and background.is_positive(used)",
        "rows.is_positive(used)",
        "tests/signomial/properties/test_shapley.py",
    ),
    Mutant(
        "signomial/properties/shapley.py",
        "rows.is_positive(used) and background.is_positive(used)",
        "background.is_positive(used)",
        "tests/signomial/properties/test_shapley.py",
    ),
    Mutant(
        "signomial/properties/shapley.py",
        "top - bottom <= _SPAN",
        "top + bottom <= _SPAN",
        "tests/signomial/properties/test_shapley.py",
    ),
    Mutant(
        "signomial/columns.py",
        "math.log(4 * max(1, len(sizes)))",
        "math.log(4 / max(1, len(sizes)))",
        "tests/signomial/test_finite_scores.py",
    ),
    Mutant(
        "fitting/solvers/newton.py",
        "residual <= 2 * stop.kkt",
        "residual <= 3 * stop.kkt",
        "tests/fitting/solvers/test_newton.py",
    ),
    Mutant(
        "fitting/solvers/newton.py",
        "evaluations, damping = 0, 1, FIRST_DAMPING",
        "evaluations, damping = 0, 2, FIRST_DAMPING",
        "tests/fitting/solvers/test_newton.py",
    ),
    Mutant("signomial/arrays.py", "if not lost.any():", "if True:", "tests/signomial/test_finite_scores.py"),
    Mutant(
        "estimators/stored.py",
        "equation is not None and law.equation != equation",
        "equation is not None and False",
        "tests/estimators/test_stored.py",
    ),
    Mutant(
        "estimators/stored.py",
        "parse_signomial(node.text(), max_products=0)",
        "parse_signomial(node.text())",
        "tests/estimators/test_stored.py",
    ),
    Mutant(
        "files/atomic_write.py",
        "if given.exists() and not given.is_file():",
        "if given.is_dir():",
        "tests/files/test_atomic_write.py",
    ),
    Mutant(
        "files/atomic_write.py",
        "temporary.chmod(stat.S_IMODE(like.stat().st_mode))",
        "like.stat()",
        "tests/files/test_atomic_write.py",
    ),
    Mutant("cli/spreadsheet.py", 'cell.data_type = "s"', "pass", "tests/cli/test_spreadsheet.py"),
    Mutant("cli/archives.py", "packed.read(limit + 1)", "packed.read()", "tests/cli/test_archives.py"),
    Mutant(
        "distributed/fragments.py",
        "if not _goes_into(here, there):",
        "if False:",
        "tests/distributed/test_fragments.py",
    ),
    Mutant(
        "explain/counterfactual/polish.py",
        "np.isfinite(vertex) & np.isfinite(y).all(axis=0)",
        "np.isfinite(vertex)",
        "tests/explain/counterfactual/test_api.py",
    ),
    Mutant(
        "signomial/parse.py",
        "self._spend(len(whole.terms) * max(1, len(other.terms)))",
        "self._spend(len(whole.terms) // max(1, len(other.terms)))",
        "tests/signomial/test_parse.py",
    ),
    Mutant(
        "files/atomic_write.py",
        "found.stat(follow_symlinks=False)",
        "found.stat()",
        "tests/files/test_atomic_write.py",
    ),
    Mutant("cli/archives.py", "(OSError, EOFError, zlib.error)", "OSError", "tests/cli/test_archives.py"),
    Mutant("cli/reading.py", "except RecursionError:", "except ZeroDivisionError:", "tests/cli/test_archives.py"),
    Mutant(
        "estimators/stored.py",
        "if len(equations) != n_scores:",
        "if len(equations) > n_scores:",
        "tests/estimators/test_stored.py",
    ),
    Mutant(
        "files/errors.py",
        "return text if len(text) <= MAX_MESSAGE else",
        "return text if text else",
        "tests/estimators/test_stored.py",
    ),
    Mutant(
        "csrc/module.c",
        "if (out[0] == Py_None || (out[1] == Py_None) != (out[2] == Py_None)) {",
        "if ((out[1] == Py_None) != (out[2] == Py_None)) {",
        "tests/fitting/test_kernel_entry.py",
    ),
    Mutant(
        "csrc/module.c",
        "fits = fits && (view->shape[d] <= 1 || view->strides[d] == inner);",
        "fits = fits && (view->shape[d] <= 1 || view->strides[d] != 0);",
        "tests/fitting/test_kernel_entry.py",
    ),
    Mutant(
        "csrc/module.c",
        "taken && (p.first < 0 || s.rows > p.stride",
        "taken && (s.rows > p.stride",
        "tests/fitting/test_kernel_entry.py",
    ),
    Mutant(
        "search/dictionary.py",
        "if not np.isfinite(width) or width <= 1e-9",
        "if np.isfinite(width) or width <= 1e-9",
        "tests/search/test_dictionary.py",
    ),
    Mutant(
        "search/batch_path.py",
        "current.fitted.objective - larger.fitted.objective",
        "current.fitted.objective + larger.fitted.objective",
        "tests/search/test_batch_path.py",
    ),
    Mutant(
        "search/screening.py",
        "weights * loss.curvature(means, c, c)",
        "weights / loss.curvature(means, c, c)",
        "tests/search/test_screening.py",
    ),
    Mutant(
        "export/targets/sql/rules.py",
        'if dialect.name == "spark" and "${" in value:',
        "if False:",
        "tests/export/targets/sql/test_names.py",
    ),
    Mutant(
        "export/program/expr.py",
        "node(group) if len(group) > 1 else group[0]",
        "node(group) if len(group) > 2 else group[0]",
        "tests/export/program/test_expr.py",
    ),
    Mutant(
        "explain/view.py",
        "if name not in self.raw_names:",
        "if name in self.raw_names:",
        "tests/explain/test_view.py",
    ),
    Mutant(
        "search/batch_path.py",
        "(moves, moves[:1]) if len(moves) > 1",
        "(moves, moves[:1]) if len(moves) > 2",
        "tests/search/test_batch_path.py",
    ),
    Mutant(
        "fitting/inference/uncertainty.py",
        "np.where(turns % 2 == 0, 1.0, -1.0)",
        "np.where(turns % 3 == 0, 1.0, -1.0)",
        "tests/fitting/inference/test_uncertainty.py",
    ),
    Mutant(
        "explain/counterfactual/polish.py",
        "[*combinations(each, 2), *combinations(each[::-1], 2)]",
        "[*combinations(each, 2)]",
        "tests/explain/counterfactual/test_readable.py",
    ),
)


ROOMS = ("signomial", "tables", "search", "fitting", "estimators", "explain", "export", "files")
"""Where random mutants are drawn: what computes, reads and writes models."""
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
TOO_LONG = 300
"""Seconds of the processor after which tests with a mutant have failed: it may never end."""


class Places(ast.NodeVisitor):
    """Collects what can be changed in a module; what is only read by people or type checkers is left out."""

    def __init__(self) -> None:
        self.found: list[ast.AST] = []

    def generic_visit(self, node: ast.AST) -> None:
        """Take a node, and go on with its parts."""
        if isinstance(node, (ast.Raise, ast.Assert, ast.ClassDef, ast.arguments)):
            parts: list[ast.AST] = [*node.body] if isinstance(node, ast.ClassDef) else []
        elif isinstance(node, ast.AnnAssign):
            parts = [node.value] if node.value else []
        elif isinstance(node, ast.FunctionDef):
            parts = [*node.body]
        elif getattr(node, "arg", "") == "strict":  # of zip: it notices the mistakes of others
            parts = []
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            parts = list(ast.iter_child_nodes(node))
        else:
            parts = []
        is_number = isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float))
        operators = [node.op] if isinstance(node, (ast.BinOp, ast.BoolOp)) else getattr(node, "ops", [])
        if is_number or isinstance(getattr(node, "op", None), ast.Not) or any(type(op) in SWAPS for op in operators):
            self.found.append(node)
        for part in parts:
            self.visit(part)


def drawn_mutant(rng: random.Random) -> tuple[str, str, str, str]:
    """Return a module, what is changed in it, the whole module with the change, and the test file that mirrors it."""
    while True:
        room = ROOT / "src" / "ecsel" / rng.choice(ROOMS)
        path = rng.choice(sorted(room.rglob("*.py")))
        file = path.relative_to(ROOT / "src" / "ecsel")
        test = ROOT / "tests" / file.parent / f"test_{file.name}"
        tree = ast.parse(path.read_text(encoding="utf-8"))
        places = Places()
        places.visit(tree)
        if test.is_file() and places.found:
            node = rng.choice(places.found)
            reported = f"line {getattr(node, 'lineno', 0)}: {ast.unparse(_change(node))}"
            return str(file), reported, ast.unparse(tree), str(test.relative_to(ROOT))


def _change(node: Any) -> ast.AST:
    """Change a node in place, and return a copy of it as it was with what it became."""
    before = copy.deepcopy(node)
    if isinstance(node, ast.Constant):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd()  # the truth of +x is that of x
        node.operand = ast.Call(ast.Name("bool"), [node.operand], [])
    elif isinstance(node, ast.Compare):
        node.ops = [SWAPS.get(type(op), type(op))() for op in node.ops]
    else:
        node.op = SWAPS[type(node.op)]()
    return ast.Tuple([before, copy.deepcopy(node)])


def survives(mutant: Mutant) -> bool:
    """Whether the tests pass although the line was changed."""
    text = (ROOT / "src" / "ecsel" / mutant.file).read_text(encoding="utf-8")
    if text.count(mutant.line) != 1:
        raise SystemExit(f"{mutant.file} has {text.count(mutant.line)} times: {mutant.line}")
    return _passes(mutant.file, text.replace(mutant.line, mutant.changed), mutant.test)


def _passes(file: str, text: str, test: str) -> bool:
    """Whether tests pass with another text of a module."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "ecsel"
        shutil.copytree(ROOT / "src" / "ecsel", package, ignore=shutil.ignore_patterns("__pycache__"))
        (package / file).write_text(text, encoding="utf-8")
        if file.endswith(".c"):
            _compile(package)
        done = subprocess.run(  # noqa: S603 - our own interpreter and our own tests
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", test],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": folder, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (TOO_LONG, TOO_LONG)),
        )
    ended = {0, 1, 2, 4, -signal.SIGXCPU, -signal.SIGKILL}  # passed, failed, could not be imported, took too long
    ended |= {-signal.SIGSEGV, -signal.SIGABRT} if file.endswith(".c") else set()
    if done.returncode not in ended:
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return done.returncode == 0


def _compile(package: Path) -> None:
    """Build the kernel of a copy of the package."""
    for old in package.glob("_kernel.*"):
        old.unlink()
    built, include = package / "_kernel.abi3.so", sysconfig.get_paths()["include"]
    sources = [str(each) for each in sorted((package / "csrc").glob("*.c"))]
    options = ["-shared", "-fPIC", "-O1", "-std=c11", f"-I{include}", "-pthread"]
    subprocess.run(["cc", *options, *sources, "-o", str(built), "-lm"], check=True)  # noqa: S603, S607


def main(argv: list[str] | None = None) -> int:
    """Run every named mutant, or random ones, and say which survive."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--random", type=int, default=0, metavar="N", help="draw so many new ones instead")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(argv)
    alive = 0
    if options.random:
        rng = random.Random(options.seed)
        drawn: dict[tuple[str, str], tuple[str, str]] = {}
        while len(drawn) < options.random:
            file, reported, text, test = drawn_mutant(rng)
            drawn[file, reported] = text, test
        for (file, reported), (text, test) in drawn.items():
            alive += _reported(file, reported, lives=_passes(file, text, test))
        _write(f"{options.random - alive} of {options.random} random mutants fall to the mirrored test file")
        return 0
    for mutant in MUTANTS:
        alive += _reported(mutant.file, mutant.changed, lives=survives(mutant))
    _write(f"{len(MUTANTS) - alive} of {len(MUTANTS)} mutants fall")
    return 1 if alive else 0


def _reported(file: str, change: str, *, lives: bool) -> int:
    _write(f"{'SURVIVES' if lives else 'falls':9} {file}: {change}")
    return int(lives)


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
