"""Named mutants: one changed line each, and the test file that must fail with it. Run with ``make mutants``.

These are the changes that once went unnoticed. Every one is made in a copy of the package, never in the sources.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

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
        "draft.chmod(stat.S_IMODE(like.stat().st_mode))",
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
        "export/sql/rules.py",
        'if dialect.name == "spark" and "${" in value:',
        "if False:",
        "tests/export/targets/sql/test_names.py",
    ),
)


def survives(mutant: Mutant) -> bool:
    """Whether the tests pass although the line was changed."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "ecsel"
        shutil.copytree(ROOT / "src" / "ecsel", package, ignore=shutil.ignore_patterns("__pycache__", "csrc"))
        path = package / mutant.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.line) != 1:
            raise SystemExit(f"{mutant.file} has {text.count(mutant.line)} times: {mutant.line}")
        path.write_text(text.replace(mutant.line, mutant.changed), encoding="utf-8")
        done = subprocess.run(  # noqa: S603 - our own interpreter and our own tests
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", mutant.test],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": folder, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            check=False,
            timeout=900,
        )
    if done.returncode not in {0, 1}:  # neither passed nor failed: the run itself went wrong
        raise SystemExit(done.stdout.decode() + done.stderr.decode())
    return done.returncode == 0


def main() -> int:
    """Run every mutant and name those that survive."""
    alive = 0
    for mutant in MUTANTS:
        lives = survives(mutant)
        alive += lives
        sys.stdout.write(f"{'SURVIVES' if lives else 'falls':9} {mutant.file}: {mutant.changed}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(MUTANTS) - alive} of {len(MUTANTS)} mutants fall\n")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
