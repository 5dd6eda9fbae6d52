"""A Parquet file is fitted like the table in it, and predictions stream to a file."""

import os

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, explain
from ecsel.distributed import ParquetTable, write_explanations, write_predictions
from ecsel.distributed import parquet as parquet_module
from ecsel.distributed.parquet import write_batches
from ecsel.fitting.rows import unpacking

FIT = {"n_terms": 1, "l1": 1e-3, "tol": 1e-12, "n_jobs": 1}


@pytest.fixture(scope="module")
def in_memory(frame):
    return ECSELClassifier(**FIT).fit(frame.drop(columns="ill"), frame["ill"])


def test_a_file_gives_the_model_of_the_table(parquet, frame, in_memory):
    model = ECSELClassifier(**FIT).fit(parquet, "ill")
    X = frame.drop(columns="ill")
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.fit_report_.objective == pytest.approx(in_memory.fit_report_.objective, abs=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), in_memory.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(model.encoder_.baseline, in_memory.encoder_.baseline, atol=1e-12)
    assert model.encoder_.feature_names == in_memory.encoder_.feature_names
    assert model.fit_report_.n_rows == len(X)


def test_small_batches_and_folders_change_nothing(monkeypatch, frame, tmp_path, in_memory):
    monkeypatch.setattr(parquet_module, "CHUNK_ROWS", 700)
    monkeypatch.setattr(unpacking, "TILE_ROWS", 256)
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(3):
        frame.iloc[2000 * i : 2000 * (i + 1)].to_parquet(folder / f"part{i}.parquet")
    model = ECSELClassifier(**FIT | {"n_jobs": 2}).fit(ParquetTable(folder), "ill")
    assert model.fit_report_.objective == pytest.approx(in_memory.fit_report_.objective, abs=1e-10)


def test_columns_can_be_chosen_and_weights_named(frame, tmp_path):
    weighted = frame.assign(weight=np.where(frame["age"] > 50, 2.0, 1.0))
    weighted.to_parquet(tmp_path / "w.parquet")
    table = ParquetTable(tmp_path / "w.parquet", columns=["size", "age"])
    model = ECSELClassifier(**FIT).fit(table, "ill", sample_weight="weight")
    twin = ECSELClassifier(**FIT).fit(frame[["size", "age"]], frame["ill"], sample_weight=weighted["weight"])
    assert model.fit_report_.objective == pytest.approx(twin.fit_report_.objective, abs=1e-9)
    balanced = ECSELClassifier(**FIT, class_weight="balanced").fit(table, "ill")
    twin = ECSELClassifier(**FIT, class_weight="balanced").fit(frame[["size", "age"]], frame["ill"])
    assert balanced.fit_report_.objective == pytest.approx(twin.fit_report_.objective, abs=1e-9)


def test_size_threshold_and_temperature_are_chosen_on_a_sample(parquet, frame):
    model = ECSELClassifier(max_terms=3, threshold="f1", calibrate=True, n_jobs=1, cv=3).fit(str(parquet), "ill")
    assert 0 < model.threshold_ < 1
    assert len(model.path_) > 1
    assert model.score(frame.drop(columns="ill"), frame["ill"]) > 0.6
    with pytest.raises(ValueError, match="cv must be a number of folds"):
        ECSELClassifier(cv=[(np.arange(5), np.arange(5, 9))]).fit(parquet, "ill")


def test_a_search_finds_the_same_equation_in_a_file_and_in_memory(monkeypatch, parquet, frame):
    """The sample is the whole table here, so only the way of the coefficients differs: passes against arrays."""
    X, y = frame.drop(columns="ill"), frame["ill"]
    monkeypatch.setattr(parquet_module, "CHUNK_ROWS", 300)
    here = ECSELClassifier(max_terms=2, n_jobs=1).fit(X, y)
    there = ECSELClassifier(max_terms=2, n_jobs=1).fit(str(parquet), "ill")
    assert there.equations_ == here.equations_
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=1e-12)


def test_predictions_and_explanations_are_written_batch_by_batch(monkeypatch, parquet, frame, tmp_path, in_memory):
    monkeypatch.setattr(parquet_module, "CHUNK_ROWS", 700)
    X = frame.drop(columns="ill")
    assert write_predictions(in_memory, parquet, tmp_path / "p.parquet") == len(X)
    found = pd.read_parquet(tmp_path / "p.parquet")
    assert found["prediction"].tolist() == in_memory.predict(X).tolist()
    np.testing.assert_allclose(found["probability of yes"], in_memory.predict_proba(X)[:, 1], atol=1e-15)
    lines = write_explanations(in_memory, parquet, tmp_path / "e.parquet", explain.log_gradient)
    reported = pd.read_parquet(tmp_path / "e.parquet")
    own = explain.log_gradient(in_memory, X).to_frame()
    assert lines == len(reported) == len(own)
    np.testing.assert_allclose(reported["value"], own["value"], atol=1e-12)
    assert reported["row"].tolist() == own["row"].tolist()


def test_values_outside_the_training_range_are_reported_once_and_nothing_half_written_stays(
    monkeypatch, frame, tmp_path, in_memory
):
    monkeypatch.setattr(parquet_module, "CHUNK_ROWS", 500)
    odd = frame.assign(age=frame["age"] + 1000)
    odd.to_parquet(tmp_path / "odd.parquet")
    with pytest.warns(UserWarning, match="12 batches") as reported:
        write_predictions(in_memory, tmp_path / "odd.parquet", tmp_path / "p.parquet")
    assert len(reported) == 1
    frame.assign(colour=None).astype({"colour": "string"}).to_parquet(tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match="colour"):
        write_predictions(in_memory, tmp_path / "bad.parquet", tmp_path / "q.parquet")
    assert not list(tmp_path.glob("q.parquet*"))


def test_mistakes_are_named(parquet, frame, tmp_path, in_memory):
    model = ECSELClassifier(**FIT)
    with pytest.raises(ValueError, match="y names the column 'sick'"):
        model.fit(parquet, "sick")
    with pytest.raises(TypeError, match="y must be the name of a column"):
        model.fit(parquet, frame["ill"])
    with pytest.raises(FileNotFoundError, match="nothing"):
        model.fit(tmp_path / "nothing.parquet", "ill")
    (tmp_path / "text.parquet").write_text("a,b\n")
    with pytest.raises(ValueError, match="cannot be read as Parquet"):
        model.fit(tmp_path / "text.parquet", "ill")
    frame.iloc[:0].to_parquet(tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match="no rows"):
        model.fit(tmp_path / "empty.parquet", "ill")
    frame.assign(ill=None).to_parquet(tmp_path / "gaps.parquet")
    with pytest.raises(ValueError, match="missing labels"):
        model.fit(tmp_path / "gaps.parquet", "ill")
    frame[frame["ill"] == "yes"].to_parquet(tmp_path / "one.parquet")
    with pytest.raises(ValueError, match="only one class: 'yes'"):
        model.fit(tmp_path / "one.parquet", "ill")
    frame.drop(columns="age").to_parquet(tmp_path / "less.parquet")
    with pytest.raises(ValueError, match="'age'"):
        write_predictions(in_memory, tmp_path / "less.parquet", tmp_path / "p.parquet")
    with pytest.raises(ValueError, match="solver='adam'"):
        ECSELClassifier(n_terms=1, l1=1e-3, solver="adam").fit(parquet, "ill")


def test_a_pipe_is_not_replaced(tmp_path):
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "rows.parquet")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="no regular file"):
        write_batches(ParquetTable(tmp_path / "rows.parquet"), ["a"], lambda part: {"b": part["a"]}, tmp_path / "pipe")
