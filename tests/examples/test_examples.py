"""Every example runs to its end on drawn tables, and is in the gallery; the drawn tables look like the real ones."""

import ast
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.py") if not path.stem.endswith("_data"))
GALLERY = EXAMPLES.parent / "docs" / "_ext" / "gallery.py"


@pytest.fixture
def run(monkeypatch):
    """Run an example as a script, with its options."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(EXAMPLES)

    def run(name, *options):
        monkeypatch.setattr(sys, "argv", [name, *options])
        return runpy.run_path(str(EXAMPLES / name), run_name="__main__")

    return run


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", NAMES)
def test_the_example_runs(name, run, capsys):
    run(name)
    assert capsys.readouterr().out


def test_every_example_is_in_the_gallery():
    tree = ast.parse(GALLERY.read_text(encoding="utf-8"))
    (order,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "ORDER"
    )
    assert sorted(ast.literal_eval(order)) == NAMES


@pytest.mark.filterwarnings("default")
def test_a_folder_takes_the_place_of_the_drawn_sessions(run, tmp_path, capsys):
    drawn = runpy.run_path(str(EXAMPLES / "shopping_data.py"))["draw"](400, seed=5)
    drawn.to_csv(tmp_path / "osi.csv.gz", index=False)
    run("online_shopping.py", "--data", str(tmp_path))
    assert capsys.readouterr().out.startswith("real sessions: 280 for training, 120 for testing")


@pytest.mark.parametrize(
    ("name", "file"), [("shopping_data", "osi.csv.gz"), ("fraud_data", "paysim_real_sample.csv.gz")]
)
def test_a_folder_without_the_table_is_refused(name, file, tmp_path):
    read = runpy.run_path(str(EXAMPLES / f"{name}.py"))["read"]
    with pytest.raises(FileNotFoundError, match=file):
        read(tmp_path)


def test_the_features_of_sessions():
    data = runpy.run_path(str(EXAMPLES / "shopping_data.py"))
    frame = data["draw"](600, seed=1)
    train, test = data["split"](frame)
    assert len(frame.columns) == 18
    assert abs(train["Revenue"].mean() - test["Revenue"].mean()) < 0.01
    features = data["Recipe"].learn(train).features(test)
    assert features.shape == (len(test), 14)
    assert np.isfinite(features.to_numpy(float)).all()
    assert features["ShopIntensity"].between(0, 10).mean() > 0.95
    assert features["PageValue_per_ExitRate"].between(0, 1000).all()
    assert set(features["TrafficType_Grouped"]) == {1, 2, 3, 4}
    assert set(features["Browser_Grouped"]) == {1, 2, 3}


def test_no_page_value_and_no_exit():
    data = runpy.run_path(str(EXAMPLES / "shopping_data.py"))
    frame = data["draw"](50, seed=2).assign(ExitRates=0.0)
    per_exit = data["Recipe"].learn(frame).features(frame)["PageValue_per_ExitRate"]
    assert per_exit.tolist() == np.where(frame["PageValues"] > 0, 1000.0, 0.0).tolist()


def test_the_features_of_payments():
    data = runpy.run_path(str(EXAMPLES / "fraud_data.py"))
    log = data["draw"](500, seed=1)
    features = data["features"](log)
    assert features["pct_balance_taken"].between(0, 1).all()
    assert (features.loc[log["oldbalanceOrg"] == 0, "pct_balance_taken"] == 0).all()
    pd.testing.assert_series_equal(features["externalDest"], (log["type"] == "PAYMENT").astype(int), check_names=False)


@pytest.fixture(scope="module")
def familiar():
    return runpy.run_path(str(EXAMPLES / "familiar_data.py"))


def test_the_familiar_tables_are_those_that_were_published(familiar):
    people = familiar["titanic"]()
    assert len(people) == 2201
    assert people["fate"].value_counts().to_dict() == {"died": 1490, "survived": 711}
    assert people["cabin"].value_counts().to_dict() == {"crew": 885, "third": 706, "first": 325, "second": 285}
    birds = familiar["penguins"]()
    assert birds["species"].value_counts().to_dict() == {"Adelie": 152, "Gentoo": 124, "Chinstrap": 68}
    assert birds["body_mass_g"].isna().sum() == 2
    animals = familiar["mammals"]()
    assert len(animals) == animals["species"].nunique() == 62
    slope = np.polyfit(np.log(animals["body_kg"]), np.log(animals["brain_g"]), 1)
    np.testing.assert_allclose(slope, [0.75169, 2.13479], atol=5e-6)  # as textbooks have it


@pytest.mark.parametrize(("name", "target"), [("telco_churn", "Churn"), ("heart_clinic", "disease")])
def test_drawn_tables_are_the_same_in_every_run(familiar, name, target):
    draw = familiar[name]
    pd.testing.assert_frame_equal(draw(200, seed=3), draw(200, seed=3))
    assert 0.1 < (draw()[target] == draw()[target].unique()[0]).mean() < 0.9


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("target", ["species", "sex"])
def test_a_row_by_hand_ends_at_the_probability(familiar, target):
    birds = familiar["penguins"]().dropna()
    X, y = birds[["bill_length_mm", "bill_depth_mm", "body_mass_g"]], birds[target]
    model = ECSELClassifier(max_factors=2, cv=3).fit(X, y)
    reported = familiar["by_hand"](model, X.head(1))
    printed = [float(line.rpartition(" ")[2]) for line in reported.splitlines() if line.startswith("probability")]
    p = model.predict_proba(X.head(1))[0]
    np.testing.assert_allclose(printed, p if len(model.classes_) > 2 else p[1:], atol=5.1e-5)
