import json
import os
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel.files import ModelDocument, ModelFileError, atomic_write, read, storage, write
from ecsel.signomial import Factor, Parity, Signomial, Term


def test_round_trip_of_a_classifier(classifier, train, model_path):
    document = classifier()
    write(document, model_path)
    loaded = read(model_path)
    assert loaded == document
    np.testing.assert_array_equal(loaded.encoder.log_features(train), document.encoder.log_features(train))


def test_round_trip_of_a_regressor(regressor, model_path):
    write(regressor(), os.fspath(model_path))
    assert read(os.fspath(model_path)) == regressor()


@pytest.mark.parametrize(
    "classes",
    [("no", "yes"), (0, 1), (0.5, 1.0), (False, True), ("", "日本\n'\""), (-(2**62), 2**53 + 1), ("1", 1)],
)
def test_classes_come_back_with_their_types(classifier, model_path, classes):
    write(classifier(classes=classes), model_path)
    loaded = read(model_path).classes
    assert loaded == classes
    assert [type(label) for label in loaded] == [type(label) for label in classes]


names = st.text(max_size=8).filter(lambda name: name.isprintable() or "\n" in name)
exponents = st.one_of(st.fractions(-9, 9, max_denominator=12), st.floats(-5, 5))


factors = st.builds(
    Factor, names, exponents, st.sampled_from(Parity), st.floats(-1e6, 1e6), st.booleans(), st.booleans()
).map(lambda factor: factor._replace(shift=0.0, log=False) if factor.exp else factor)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.lists(factors, max_size=3)), max_size=4))
def test_any_signomial_comes_back_exactly(model_path, terms):
    equation = Signomial(Term.from_factors(coefficient, parts) for coefficient, parts in terms)
    document = ModelDocument(kind="regressor", link="identity", inputs=equation.names, equations=(equation,))
    write(document, model_path)
    loaded = read(model_path).equations[0]
    assert loaded == equation
    assert [term.coefficient for term in loaded.terms] == [term.coefficient for term in equation.terms]
    for mine, theirs in zip(loaded.terms, equation.terms, strict=True):
        assert [type(factor.exponent) for factor in mine.factors] == [
            type(factor.exponent) for factor in theirs.factors
        ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": {"loss": float("nan")}}, "metrics.loss: nan of type float cannot be stored"),
        ({"params": {"cv": object}}, "params.cv: <class 'object'> of type type cannot be stored"),
        ({"params": {"class_weight": {0: 1.0}}}, "params.class_weight.0: the name 0 must be text"),
        ({"report": {"a": [1, np.int64(2)]}}, r"report.a\[1\]: np.int64\(2\) of type int64 cannot be stored"),
        ({"classes": ("a", "a")}, "classes: the classes are not unique"),
        ({"classes": ("a", "\ud800")}, r"classes\[1\]: .* holds half a character"),
        ({"threshold": 1.5}, "threshold: only two classes have one"),
    ],
)
def test_what_could_not_be_read_is_not_written(classifier, model_path, changes, message):
    with pytest.raises(ModelFileError, match=message) as caught:
        write(classifier(**changes), model_path)
    assert str(model_path) in str(caught.value)
    assert list(model_path.parent.iterdir()) == []


@pytest.mark.parametrize("kind", [list, dict])
def test_a_value_that_holds_itself_is_not_written(classifier, model_path, kind):
    loop = kind()
    loop.append(loop) if kind is list else loop.update(again=loop)
    with pytest.raises(ModelFileError, match="nested too deeply"):
        write(classifier(report={"loop": loop}), model_path)


def test_a_failed_write_leaves_the_old_file(classifier, model_path, monkeypatch):
    write(classifier(), model_path)

    def fail(_descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(atomic_write.os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write(classifier(threshold=0.75), model_path)
    assert read(model_path).threshold == 0.25
    assert list(model_path.parent.iterdir()) == [model_path]


def test_writing_replaces(classifier, model_path):
    write(classifier(), model_path)
    write(classifier(threshold=0.75), model_path)
    assert read(model_path).threshold == 0.75


@pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX")
def test_files_have_the_usual_permissions(classifier, model_path):
    write(classifier(), model_path)
    other = model_path.with_name("other")
    other.touch()
    assert model_path.stat().st_mode == other.stat().st_mode


def test_no_such_file(model_path):
    with pytest.raises(FileNotFoundError):
        read(model_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "this is not valid JSON"),
        (b"{", "this is not valid JSON"),
        (b"\xff\xfe{}", "this is not valid JSON"),
        (b"[]", "this is not an ecsel model file"),
        (b"{}", "this is not an ecsel model file"),
        (b'{"format": "ecsel model"}', "schema: the field is not there"),
        (b'{"format": "ecsel model", "schema": "1"}', 'schema: expected a positive whole number, got "1"'),
        (
            b'{"format": "ecsel model", "schema": 3}',
            "schema: the file has schema 3, this version .* reads up to 2: update",
        ),
        (b'{"a": 1, "a": 2}', "the field 'a' occurs twice"),
        (b'{"a": NaN}', "NaN is not a finite number"),
        (b"[" * 200_000, "nested too deeply"),
        (b"9" * 10_000, "this is not valid JSON"),
    ],
)
def test_files_that_are_no_model_are_refused(model_path, content, message):
    model_path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message) as caught:
        read(model_path)
    assert str(caught.value).startswith(str(model_path))


def test_every_truncation_is_refused(regressor, model_path):
    write(regressor(), model_path)
    content = model_path.read_bytes().rstrip()
    for length in range(0, len(content), 7):
        model_path.write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            read(model_path)


def test_large_files_are_refused(model_path, monkeypatch, regressor):
    monkeypatch.setattr(storage, "MAX_BYTES", 100)
    model_path.write_bytes(b" " * 101)
    with pytest.raises(ModelFileError, match="a model file has at most 100 bytes"):
        read(model_path)
    with pytest.raises(ModelFileError, match="a model file has at most 100 bytes"):
        write(regressor(), model_path)


def test_files_are_text_for_people(classifier, model_path):
    write(classifier(classes=("naïve", "日本")), model_path)
    assert "日本" in model_path.read_text(encoding="utf-8")
    assert json.loads(model_path.read_text(encoding="utf-8"))["schema"] == 2
