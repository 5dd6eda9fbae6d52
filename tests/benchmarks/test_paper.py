"""The page of the paper and the README's figures are what the result files say; the studies run on drawn tables."""

import json
import re

import numpy as np
import pytest

from benchmarks import paper, paper_fraud, paper_readme, paper_studies, shopping_report
from benchmarks.paper_contest import Contest, quality
from benchmarks.results import FOLDER, ResultFile
from benchmarks.shopping_models import COLUMNS, FEATURES, Study
from ecsel import ECSELClassifier
from examples import fraud_data, shopping_data


def test_the_page_is_that_of_the_result_files():
    assert paper.PAGE.read_text(encoding="utf-8") == paper.page(FOLDER), "run: python -m benchmarks paper"


def test_the_figures_in_the_readme_are_those_of_the_result_files():
    readme = paper.README.read_text(encoding="utf-8")
    between = readme.partition(paper_readme.BEGIN)[2].partition(paper_readme.END)[0]
    assert between.strip() == paper_readme.figures(FOLDER), "run: python -m benchmarks paper"


def test_a_readme_without_marks_is_refused(tmp_path):
    (tmp_path / "README.md").write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="no marks"):
        paper_readme.write(tmp_path / "README.md", FOLDER)


def test_what_is_not_measured_says_so(tmp_path):
    text = "\n".join(paper_studies.parts(tmp_path))
    assert text.count("Not measured yet") == 2


def test_the_page_of_the_shopping_study_is_that_of_its_files():
    text = (FOLDER / "shopping.md").read_text(encoding="utf-8")
    assert text == "\n\n".join(shopping_report.page(FOLDER)) + "\n", "run: python -m benchmarks shopping --report"


@pytest.fixture(scope="module")
def study():
    return Study(shopping_data.draw(500, seed=3))


def test_a_study_has_the_same_rows_in_both_forms(study):
    features, columns = study.contest(FEATURES), study.contest(COLUMNS)
    assert features.train.index.equals(columns.train.index)
    assert (features.y_test == columns.y_test).all()
    assert (features.train.shape[1], columns.train.shape[1]) == (14, 17)
    assert shopping_data.TARGET not in columns.train
    train, test = columns.numbers()
    assert train.shape[1] == test.shape[1]


@pytest.mark.filterwarnings("ignore:.*training")  # test rows may lie outside the training range
def test_the_row_of_a_baseline_and_of_an_equation(study, tmp_path):
    contest = study.contest(FEATURES)
    _, row = contest.baseline("logistic regression", 1)
    model = ECSELClassifier(n_terms=1, l1=0.02, threshold="f1", cv=contest.folds, n_jobs=1)
    own = contest.equation(model.fit(contest.train, contest.y_train), 0.1)
    file = ResultFile(tmp_path / "shopping_models.csv", ["model", "columns"])
    file.put({"model": "logistic regression", "columns": FEATURES} | row)
    file.put({"model": "ECSEL (paper's trainer, sparse)", "columns": FEATURES} | own)
    table = paper_studies.shopping_models(file.rows)
    assert "63.75" in table  # the paper's figure stands beside ours
    assert shopping_report.percent(own["f1"]) in table
    assert json.loads(own["options"])["l1"] == pytest.approx(0.02)


def test_quality_counts_the_second_class():
    found = quality(np.array([0, 0, 1, 1]), np.array([0.1, 0.6, 0.4, 0.9]), 0.5)
    assert found["accuracy"] == found["recall"] == found["precision"] == found["f1"] == 0.5
    assert found["auc"] == 0.75


def test_the_eleven_features_of_the_fraud_study():
    log = fraud_data.draw(300, seed=2)
    features = paper_fraud.paper_features(log)
    assert features.shape == (300, 11)
    assert np.allclose(np.exp(features["amount"]), log["amount"] + 1e-6)
    assert (features.filter(like="type_").sum(axis=1) == (log["type"] != "CASH_IN")).all()
    contest = paper_fraud.contest(log, features)
    assert isinstance(contest, Contest)
    assert len(contest.folds) == 3
    assert len(contest.test) == 45


@pytest.mark.parametrize("name", ["shopping", "paper_fraud"])
def test_a_folder_without_the_table_is_refused(name, tmp_path, capsys):
    from importlib import import_module

    with pytest.raises(SystemExit):
        import_module(f"benchmarks.{name}").main(["--data", str(tmp_path)])
    assert re.search(r"must be the folder that holds \w+\.csv\.gz", capsys.readouterr().err)
