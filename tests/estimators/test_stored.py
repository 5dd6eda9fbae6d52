"""Records in model files: what contradicts the equations or could not be told is refused, in bounded time and words."""

import json

import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, ECSELRegressor, load
from ecsel.files import ModelFileError, schema


@pytest.fixture(scope="module")
def law_file(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.lognormal(size=(80, 3)), columns=["u", "v", "w"])
    path = tmp_path_factory.mktemp("law") / "law.json"
    ECSELRegressor().fit(X, 0.5 * X["u"] * X["v"] ** 2).save(path)
    return path


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"income": rng.lognormal(3, 1, 200), "age": rng.integers(18, 80, 200)})
    return X, rng.random(200) < 1 / (1 + np.exp(3 - np.log(X["income"])))


@pytest.fixture(scope="module")
def search_file(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("search") / "model.json"
    ECSELClassifier(cv=3).fit(*table).save(path)
    return path


@pytest.fixture(scope="module")
def prediction_file(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("prediction") / "model.json"
    X, _ = table
    ECSELRegressor(criterion="prediction", cv=3).fit(X, 2 * np.log(X["income"]) + X["age"]).save(path)
    return path


@pytest.fixture
def spoilt(tmp_path):
    """Write a file with one field changed, and return its path."""

    def write(source, change):
        document = json.loads(source.read_text())
        change(document)
        path = tmp_path / "spoilt.json"
        path.write_text(json.dumps(document))
        return path

    return write


@pytest.mark.parametrize(
    "change",
    [
        lambda law: law.update(terms=["7*w**3"]),
        lambda law: law.update(terms=["0.6*u*v**2"]),
        lambda law: law.update(known="u"),
    ],
)
def test_a_record_of_another_law_is_refused(law_file, spoilt, change):
    load(law_file)
    with pytest.raises(ModelFileError, match=r"report\.law: the record speaks of another law"):
        load(spoilt(law_file, lambda document: change(document["report"]["law"])))


def test_a_prediction_has_one_equation_too(prediction_file, spoilt):
    model = load(prediction_file)
    assert model.law_.equation == model.equation_

    def other_number(document):
        document["equations"][0]["terms"][0]["coefficient"] *= 2

    with pytest.raises(ModelFileError, match="another law"):
        load(spoilt(prediction_file, other_number))

    def other_candidate(document):
        document["path"][0]["equations"] = ["income"]

    with pytest.raises(ModelFileError, match=r"path\[0\]\.law.*another law"):
        load(spoilt(prediction_file, other_candidate))


EXPANDED = f"({'+'.join(f'x{i}' for i in range(220))})*({'+'.join(f'y{i}' for i in range(220))})"


@pytest.mark.parametrize("field", ["known", "terms"])
@pytest.mark.parametrize("text", [EXPANDED, "(u + v)*w", "((u + v + w) + 1)", "u + (v + w + u**2)"])
def test_no_sum_of_a_stored_law_is_expanded(law_file, spoilt, field, text):
    value = text if field == "known" else [text]
    with pytest.raises(ModelFileError, match=r"report\.law.*too many terms"):
        load(spoilt(law_file, lambda document: document["report"]["law"].update({field: value})))


def test_no_sum_of_a_candidate_is_expanded(search_file, spoilt):
    with pytest.raises(ModelFileError, match=r"path\[0\]\.equations\[0\].*too many terms"):
        load(spoilt(search_file, lambda document: document["path"][0].update(equations=[EXPANDED])))


def test_records_have_a_bounded_amount_of_text(search_file, monkeypatch):
    monkeypatch.setattr(schema, "MAX_RECORD_TEXT", 10)
    with pytest.raises(ModelFileError, match="characters of text, more than 10"):
        load(search_file)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["report"].update(loss=None),
        lambda d: d["report"].update(n_rows="many"),
        lambda d: d["report"].update(n_pieces=[1]),
        lambda d: d["report"].update(near_ties=[99]),
        lambda d: d["report"].update(near_ties=[-1]),
        lambda d: d["report"].update(n_terms=True),
        lambda d: d["path"][0].update(size="3"),
        lambda d: d["path"][0].update(equations=[]),
        lambda d: d["path"][0].update(equations=["stranger"]),
        lambda d: d["params"].update(max_features={}),
        lambda d: d["params"].update(max_features="many"),
        lambda d: d["params"].update(monotone=0.5),
        lambda d: d["params"].update(monotone={"stranger": 1}),
        lambda d: d["params"].update(exponent_bounds=[1]),
        lambda d: d["params"].update(exponent_bounds={"income": "x"}),
        lambda d: d["params"].update(calibrate="no"),
        lambda d: d["metrics"].update(temperature=[]),
        lambda d: d["metrics"]["out_of_fold"].update(minority=2),
        lambda d: d["metrics"]["out_of_fold"].update(confusion=[[1.0]]),
        lambda d: d["metrics"].update(standard_errors={"numbers": [{"label": 1}], "converged": True, "n_rows": 1}),
    ],
)
def test_what_could_not_be_reported_is_refused(search_file, spoilt, change):
    load(search_file).summary()
    with pytest.raises(ModelFileError):
        load(spoilt(search_file, change))


@pytest.mark.parametrize(
    "change",
    [
        lambda law: law.update(rounded=[]),
        lambda law: law.update(covariance=[]),
        lambda law: law.update(covariance=[[1.0, 2.0]]),
        lambda law: law.update(free=[[5, "u"]]),
        lambda law: law.update(free=[[0, "w"]]),
        lambda law: law.update(free=[[0]]),
        lambda law: law.update(noise=["loud", 1.0, True]),
        lambda law: law.update(noise=[]),
        lambda law: law.update(mse="small"),
        lambda law: law.update(terms=["u + v"]),
        lambda law: law.update(terms=[3]),
        lambda law: law.update(constants=[["c", 1.0]]),
        lambda law: law.pop("mse"),
    ],
)
def test_a_record_of_a_law_is_whole(law_file, spoilt, change):
    with pytest.raises(ModelFileError, match=r"report\.law"):
        load(spoilt(law_file, lambda document: change(document["report"]["law"])))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update({"n" * 1_000_000: 1}),
        lambda d: d["report"].update({"n" * 1_000_000: 1}),
        lambda d: d.update(inputs=["n" * 90_000] * 2),
        lambda d: d["equations"][0]["terms"][0]["factors"][0].update(name="n" * 90_000),
        lambda d: d["path"][0].update(equations=["n" * 90_000]),
    ],
)
def test_a_message_has_a_bounded_length(search_file, spoilt, change):
    with pytest.raises(ModelFileError) as caught:
        load(spoilt(search_file, change))
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize("kind", ["law", "prediction"])
def test_the_name_of_the_target_comes_back_and_old_files_have_none(request, spoilt, kind):
    source = request.getfixturevalue(f"{kind}_file")
    assert load(spoilt(source, lambda d: d["report"].update(target="speed"))).target_name_ == "speed"
    assert load(spoilt(source, lambda d: d["report"].pop("target"))).target_name_ == "y"


@pytest.mark.parametrize("end", ["auc_low", "auc_high"])
def test_an_interval_of_the_auc_has_two_ends(search_file, spoilt, end):
    def drop(value):
        if isinstance(value, dict):
            value.update({end: None} if end in value else {})
            for each in value.values():
                drop(each)

    with pytest.raises(ModelFileError, match="an interval of the AUC"):
        load(spoilt(search_file, drop))
