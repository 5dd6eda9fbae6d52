"""The page of evidence is what the result files say, and 0.1.0 is compared with 0.2.0 on the folds that both have."""

import csv

import numpy as np
import pytest

from benchmarks import evidence
from benchmarks.classification_task import KEY
from benchmarks.evidence_versions import changes, versions_part
from benchmarks.results import FOLDER, ResultFile
from benchmarks.sealed_front import draw, front, label_places
from benchmarks.sealed_report import read_block


def test_the_page_is_that_of_the_result_files():
    assert evidence.PAGE.read_text(encoding="utf-8") == evidence.page(FOLDER), "run: python -m benchmarks evidence"
    assert evidence.PICTURE.is_file()


def test_a_closed_list_says_so(tmp_path):
    for name in ("default_0_1_0.csv",):
        (tmp_path / name).write_text((FOLDER / name).read_text(encoding="utf-8"), encoding="utf-8")
    text = evidence.page(tmp_path)
    assert "The sealed list has not been opened yet." in text
    assert "quality_against_size" not in text


@pytest.fixture
def both_versions(tmp_path):
    with (tmp_path / "default_0_1_0.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "table", "repeat", "fold", "f1", "log_loss", "cpu_seconds"])
        writer.writerows([["unseen", "t", 0, 0, 0.8, 0.5, 2], ["unseen", "t", 0, 1, 0.1, 9, 9]])
        writer.writerow(["unseen", "perfect", 0, 0, 1.0, 0.001, 2])
    cells = ResultFile(tmp_path / "unseen.csv", KEY)
    for table, loss in (("t", 0.25), ("perfect", 0.004)):
        cell = {"protocol": "b", "table": table, "method": "ECSEL (auto)", "repeat": 0, "fold": 0, "status": "ok"}
        cells.put({**cell, "f1": 0.9, "log_loss": loss, "cpu_seconds": 1.0, "version": "0.2.0"})
    return tmp_path


def test_versions_are_compared_on_the_folds_that_both_have(both_versions):
    found = changes(both_versions, "unseen")
    assert [(change.table, change.log_loss) for change in found] == [("t", (0.5, 0.25)), ("perfect", (0.001, 0.004))]
    text = " ".join("\n".join(versions_part(both_versions)).split())
    assert "25 tables of KEEL | 1 | 0.500 |" in text  # the perfect table has no part in the ratio
    assert "lower log-loss, tables of 2 | 1 | 1 |" in text
    assert "CPU seconds of a fit, median over the tables | 2.00 | 1.00 |" in text


def test_the_front_has_the_points_that_nothing_beats():
    sizes, values = np.array([10.0, 100.0, 10.0, 1000.0]), np.array([0.5, 0.4, 0.6, 0.45])
    assert front(sizes, values) == [0, 1]
    rng = np.random.default_rng(0)
    sizes, values = rng.random(30), rng.random(30)
    beaten = [
        any((sizes < s) & (values <= v) | (sizes <= s) & (values < v)) for s, v in zip(sizes, values, strict=True)
    ]
    assert sorted(front(sizes, values)) == [i for i, each in enumerate(beaten) if not each]


def test_labels_keep_clear_of_points_and_of_the_axis():
    at = np.array([[100.0, 100.0], [112.0, 100.0], [52.0, 50.0]])
    places = label_places(at, ["first", "second", "a long name"], edge=50.0)
    assert places[0][2] != "left"  # the second point is to its right
    assert places[2][2] == "left"  # the axis is to its left


def test_the_picture_names_every_method(tmp_path):
    results = ResultFile(tmp_path / "tuning_classification.csv", ("table", "method", "fold"))
    for method, loss, size in (("ECSEL", 0.4, 10), ("XGBoost", 0.3, 2000)):
        about = {"rows": 100, "entropy": 0.7, "status": "ok", "note": ""}
        results.put({"table": "t", "method": method, "fold": 0, "log_loss": loss, "size": size, **about})
    draw(read_block(tmp_path, "tuning", "classification"), tmp_path / "front.svg")
    text = (tmp_path / "front.svg").read_text(encoding="utf-8")
    assert ">ECSEL<" in text
    assert ">XGBoost<" in text
    draw(read_block(tmp_path, "tuning", "classification"), tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == text
