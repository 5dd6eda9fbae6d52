"""Every example runs to its end on drawn tables, and is in the gallery; the drawn tables look like the real ones."""

import ast
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
STORIES = sorted(path.name for path in EXAMPLES.glob("*.py") if not path.stem.endswith("_data"))
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
@pytest.mark.parametrize("name", STORIES)
def test_the_story_runs(name, run, capsys):
    run(name)
    assert capsys.readouterr().out


def test_every_story_is_in_the_gallery():
    tree = ast.parse(GALLERY.read_text(encoding="utf-8"))
    (order,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "ORDER"
    )
    assert sorted(ast.literal_eval(order)) == STORIES


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
