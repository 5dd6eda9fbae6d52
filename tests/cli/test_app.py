"""The command as a person runs it: in this process, in a fresh one, and with a library missing."""

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

import ecsel
from ecsel.cli.app import app
from ecsel.cli.demo import bundled_table, demo_study, write_files
from ecsel.cli.explained_row import least_sure_row
from ecsel.cli.terminal import show_study

NASTY = ["[bold red]x[/]", "<script>alert(1)</script>", ":smile: & 'quotes\"", "two\nlines"]


@pytest.fixture(scope="module")
def nasty_study():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(1, 9, (90, 4)), columns=NASTY)
    y = np.where(X[NASTY[0]] * X[NASTY[1]] > 20, "<b>[red]yes", "[/]no")
    y = np.where(X[NASTY[2]] > 6, "mid\nway", y)
    return demo_study(X, y)


def test_demo_prints_equations_quality_an_explained_row_and_paths(tmp_path):
    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path / "out")], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    for wanted in ("log-odds of malignant = ", "by hand", "logistic regression", "log-loss", "speaks for"):
        assert wanted in result.output
    for name in ("model.json", "equations.txt", "report.html"):
        assert str(tmp_path / "out" / name) in result.output


def test_files_hold_the_model_that_was_shown(tmp_path):
    X, y = bundled_table()
    found = demo_study(X, y)
    write_files(found, tmp_path, "tumours")
    model = ecsel.load(tmp_path / "model.json")
    usual = X[X.apply(lambda x: x.between(x.quantile(0.1), x.quantile(0.9))).all(axis=1)]
    np.testing.assert_array_equal(model.predict_proba(usual), found.model.predict_proba(usual))
    text = (tmp_path / "equations.txt").read_text(encoding="utf-8")
    for equation in found.model.equations_.values():
        assert str(equation) in text
        assert any(ecsel.Signomial.parse(line.partition(" = ")[2]) == equation for line in exact_lines(text))


def exact_lines(text):
    return [line for line in text.splitlines() if line.startswith("  log-odds of") and " = " in line]


def test_a_fresh_process_says_the_same_in_plain_text_and_quietly(tmp_path):
    arguments, wide = ["demo", "--output", str(tmp_path)], {"COLUMNS": "120"}
    script = "import sys; from ecsel.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **wide}, check=True)
    here = CliRunner().invoke(app, arguments, env=wide).output
    fresh, same = ([line for line in text.splitlines() if "fitted in" not in line] for text in (done.stdout, here))
    assert fresh == same
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path / "file")])
    assert result.exit_code == 1
    assert "--output" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("library", ["typer", "rich", "pandas"])
def test_a_missing_library_is_one_line_that_names_the_extra(tmp_path, library):
    script = f"import sys; sys.modules[{library!r}] = None; from ecsel.cli import main; sys.exit(main())"
    (tmp_path / "data.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    command = [sys.executable, "-c", script, "fit", str(tmp_path / "data.csv"), "-t", "y"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f'The ecsel command needs {library}: pip install "ecsel[cli]"\n'


def test_version_and_help():
    assert CliRunner().invoke(app, ["--version"]).output == f"ecsel {ecsel.__version__}\n"
    assert "demo" in CliRunner().invoke(app, ["--help"]).output


def test_names_are_data_in_the_terminal(nasty_study):
    console = Console(markup=False, emoji=False, highlight=False, width=200, record=True, file=open(os.devnull, "w"))  # noqa: PTH123, SIM115 - closed below
    row = least_sure_row(nasty_study)
    show_study(console, nasty_study, row, "names")
    console.file.close()
    text = console.export_text()
    printed_names = [r.column for r in row.reasons if r.column.isprintable()]
    assert printed_names
    for name in [*printed_names, "<b>[red]yes", "[/]no", r"'mid\nway'"]:
        assert name in text
