"""The program of the sealed tables: the list stays closed, cells resume, rivals that hang or fail count last."""

import csv
import os
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from benchmarks import sealed, sealed_cell
from benchmarks.results import ResultFile
from benchmarks.sealed_cell import FIELD, KEY, METHODS, Unit, calibration_error, class_quality, measure, number_quality
from benchmarks.sealed_methods import FigsSums, OptimalTree, TextAsLevels
from benchmarks.sealed_report import Block, aims_part, groups, left, waiting, write_report
from benchmarks.sealed_tables import Numbers, names_in
from benchmarks.tables import Table
from ecsel import __version__


@pytest.fixture
def table():
    import pandas as pd

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=150), "b": rng.normal(size=150), "c": rng.choice(["u", "v"], 150)})
    X.loc[::7, "b"] = np.nan
    X.loc[::11, "c"] = None
    return Table("drawn", X, (X["a"] + 0.5 * rng.normal(size=150) > 0).to_numpy().astype(np.intp))


@pytest.fixture
def drawn_list(table, monkeypatch):
    monkeypatch.setattr(sealed, "names_in", lambda *_: ["drawn"])
    monkeypatch.setattr(sealed, "read_table", lambda *_: table)


def read(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("drawn_list")
def test_the_sealed_list_is_closed_until_it_is_opened(tmp_path, capsys):
    options = ["--methods", "l1 logistic regression", "--folds", "1", "--output", str(tmp_path)]
    with pytest.raises(SystemExit):
        sealed.main(options)
    assert "the sealed list is closed" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert sealed.main([*options, "--open"]) == 0
    (row,) = read(tmp_path / "sealed_opened.csv")
    assert row["version"] == __version__
    assert len(read(tmp_path / "sealed_classification.csv")) == 1
    assert sealed.main(options) == 0  # once opened, a run goes on


def test_no_table_of_the_tuning_list_shares_rows_with_a_sealed_one():
    from benchmarks.sealed_list import SEALED, read_list

    relatives = {name for row in read_list(SEALED) for name in row["same_rows_unopened"].split()}
    assert relatives
    assert not relatives & set(names_in("tuning", "classification"))
    assert "cpu_performance" not in names_in("sealed", "regression")  # the rows of `cpu`, which `laws` has fitted


@pytest.mark.usefixtures("drawn_list")
def test_a_run_goes_on_where_it_was_and_counts_what_hangs_or_fails(tmp_path, monkeypatch, capsys):
    def meet_the_limit(_):
        os.kill(os.getpid(), signal.SIGXCPU)  # what the kernel sends when the processor time is used up

    def fail(_):
        raise ValueError("no such split")

    for name, fit in (("FIGS", meet_the_limit), ("EBM", fail)):
        monkeypatch.setitem(METHODS, name, replace(METHODS[name], fit=fit, libraries=()))
    monkeypatch.setitem(METHODS, "HROCH", replace(METHODS["HROCH"], libraries=("no_such_library",)))
    options = ["--list", "tuning", "--methods", "l1 logistic regression;FIGS;EBM;HROCH", "--folds", "2"]
    options += ["--output", str(tmp_path)]
    assert sealed.main(options) == 0
    printed = capsys.readouterr()
    assert "HROCH is left out: it needs no_such_library." in printed.err
    rows = {(row["method"], row["fold"]): row for row in read(tmp_path / "tuning_classification.csv")}
    assert [rows["FIGS", fold]["status"] for fold in "01"] == ["dnf", "dnf"]
    assert rows["EBM", "0"]["note"] == "ValueError: no such split"
    assert rows["l1 logistic regression", "1"]["status"] == "ok"
    assert "FIGS on drawn (time limit)" in printed.out
    assert "EBM on drawn (ValueError: no such split)" in printed.out
    assert sealed.main(options) == 0
    assert "[1/" not in capsys.readouterr().err


def test_strangers_are_named(capsys):
    for options, words in ((["--tables", "moon"], "no table is named 'moon'"), (["--methods", "oracle"], "'oracle'")):
        with pytest.raises(SystemExit):
            sealed.main(["--list", "tuning", *options])
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("method", ["ECSEL", "l1 logistic regression", "XGBoost"])
def test_a_cell_has_every_figure(table, method):
    if METHODS[method].missing:
        pytest.skip(f"needs {METHODS[method].missing}")
    row = measure(Unit("classification", "drawn", method, 0, 2), table)
    assert row["status"] == "ok"
    assert row["log_loss"] < row["entropy"]
    assert row["size"] >= 2
    assert row["cpu_seconds"] > 0
    assert row["rarest"] == pytest.approx(np.bincount(table.y).min() / 150)


def test_a_cell_of_regression_has_the_squares_of_its_r2(table):
    numbers = Numbers("drawn", table.X[["a"]], 3 * table.X["a"].to_numpy() + 1)
    row = measure(Unit("regression", "drawn", "linear regression", 0), numbers)
    assert row["r2"] == pytest.approx(1)
    assert row["size"] == 2
    assert row["r2"] == 1 - row["squared_error"] / row["squared_total"]
    with pytest.raises(ValueError, match="not finite"):
        number_quality(np.array([np.nan]), np.array([1.0]), 0.0)


def test_calibration_error_is_the_gap_of_the_bins():
    p = np.array([[0.25, 0.75]] * 4)
    assert calibration_error(p, np.array([1, 1, 1, 0])) == pytest.approx(0)
    assert calibration_error(p, np.array([1, 1, 1, 1])) == pytest.approx(0.25)
    assert calibration_error(p, np.array([0, 0, 0, 0])) == pytest.approx(0.75)
    both = np.vstack([p, [[0.45, 0.55]] * 4])  # bins do not make up for each other
    assert calibration_error(both, np.array([1, 1, 1, 1, 0, 0, 1, 0])) == pytest.approx((0.25 + 0.3) / 2)


def test_certain_and_wrong_is_dear_but_finite():
    p = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = class_quality(p, np.array([1, 0]))
    assert found["log_loss"] == pytest.approx(-np.log(sealed_cell.CLIP), rel=1e-6)
    assert found["auc"] == 0


def test_an_optimal_tree_has_smoothed_shares():
    pytest.importorskip("pystreed")
    X = np.repeat([[0.0], [1.0], [2.0], [3.0]], 10, axis=0)
    y = (X[:, 0] > 1.5).astype(int)
    p = OptimalTree(2, 0.0).fit(X, y).predict_proba(X[[0, -1]])
    assert p == pytest.approx(np.array([[21 / 22, 1 / 22], [1 / 22, 21 / 22]]))


def test_sums_of_figs_are_one_for_two_classes_and_one_a_class_for_more():
    pytest.importorskip("imodels")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    assert FigsSums(2, 0).fit(X, (X[:, 0] > 0).astype(int)).decision_function(X).shape == (90, 1)
    assert FigsSums(2, 0).fit(X, np.arange(90) % 3).decision_function(X).shape == (90, 3)


def test_text_is_a_level_and_missing_text_one_of_its_own(table):
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(iterations=20, verbose=0, allow_writing_files=False, thread_count=1)
    p = TextAsLevels(model).fit(table.X, table.y).predict_proba(table.X)
    assert brier_score_loss(table.y, p[:, 1]) < 0.2


def row_of(name, method, fold, loss, **about):
    figures = {"log_loss": loss, "f1": 1 - loss, "auc": 1 - loss, "calibration_error": loss}
    shape = {"rows": 100, "rarest": 0.5, "entropy": 1.0, "size": 10, "cpu_seconds": 1.0, "note": "", **about}
    status = "dnf" if np.isnan(loss) else "ok"
    row = {"table": name, "method": method, "fold": fold, "status": status, **figures, **shape}
    return {key: str(value) for key, value in row.items()}


def test_a_block_takes_the_folds_that_all_have_and_groups_look_at_rivals_alone():
    rows = []
    for name, size, straight in (("one", 100, 0.3), ("two", 5000, 0.5)):
        for fold in range(3):
            for method, loss in (("ECSEL", 0.2), ("l1 logistic regression", straight), ("XGBoost", 0.4)):
                if (name, fold, method) != ("two", 2, "XGBoost"):
                    rows.append(row_of(name, method, fold, loss, rows=size, rarest=0.05 if size > 100 else 0.5))
    block = Block.of(rows, list(METHODS))
    assert block.tables == ["one", "two"]
    assert block.folds == {"one": 3, "two": 2}
    found = groups(block)
    assert (found["straight"], found["bent"], found["a rare class"]) == (["one"], ["two"], ["two"])
    assert (found["under 500 rows"], found["over 2000 rows"]) == (["one"], ["two"])


def test_aims_are_evaluated_by_what_is_on_file():
    def aims(**losses):
        rows = [row_of("one", method.replace("_", " "), 0, loss, size=size) for method, (loss, size) in losses.items()]
        lines = aims_part(Block.of(rows, list(METHODS))).splitlines()[2:]
        return [line.split("|")[3].strip() for line in lines]

    assert aims(ECSEL=(0.2, 10), FIGS=(0.3, 20), XGBoost=(0.1, 900)) == ["holds", "holds", "holds"]
    assert aims(ECSEL=(0.4, 10), FIGS=(0.3, 8), XGBoost=(0.5, 900)) == ["missed", "holds", "missed"]


def test_an_unfinished_table_knows_nothing_and_is_last(tmp_path):
    from benchmarks.results import ResultFile

    results = ResultFile(tmp_path / "tuning_classification.csv", sealed_cell.KEY)
    for method, loss in (("ECSEL", 0.2), ("FIGS", float("nan")), ("XGBoost", 0.4)):
        results.put(row_of("one", method, 0, loss))
    block = Block.of(results.rows, list(METHODS))
    assert dict(zip(block.methods, left(block)[:, 0], strict=True)) == {"ECSEL": 0.2, "FIGS": 1.0, "XGBoost": 0.4}
    text = write_report(tmp_path, "tuning", about="")
    ranked = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert ranked.index("ECSEL") < ranked.index("XGBoost") < ranked.index("FIGS")


def test_a_limit_by_the_clock_ends_what_sleeps():
    from benchmarks.capped import run_capped

    (done,) = run_capped([None], lambda _: time.sleep(600), 1.0, patience=0.1)
    assert done.late


def test_the_page_says_which_methods_wait_for_a_sitting(tmp_path):
    file = ResultFile(tmp_path / "sealed_classification.csv", KEY)
    for table in ("glass", "car"):
        for method in FIELD["classification"]:
            if (table, method) != ("car", "EBM"):
                file.put({"table": table, "method": method, "fold": 0})
    printed = (
        "Tables of classification that wait for a method: EBM (1 of 2). The regression tables wait for another sitting."
    )
    assert waiting(tmp_path) == printed
