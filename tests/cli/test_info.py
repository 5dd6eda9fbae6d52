"""What is told of a model file is what is in it, and a person can calculate with it."""

import re

import numpy as np
import pytest

import ecsel


def test_info_has_the_exact_equations(run, run_json, model_file, law_file, model):
    found = run_json("info", model_file)
    assert ecsel.Signomial.parse(found["equations"][0]["equation"]) == model.equations_["yes"]
    assert {c["name"]: c["kind"] for c in found["columns"]}["home"] == "categorical"
    text = run("info", model_file).stdout
    for wanted in ("score of yes", "mortgage, own, rent", "predicts yes", "positive scale"):
        assert wanted in text
    assert "KKT" in run("info", model_file, "--verbose").stdout
    assert run("info", law_file, "--quiet").stdout == "prediction\t0.5*stiffness*stretch**2\n"
    assert "stiffness" in run("info", law_file).stdout


def seen_equation(text):
    """Return the right-hand side that a person sees: the lines from the equals sign to the probability."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  log-odds of"))
    last = next(i for i, line in enumerate(lines) if line.startswith("  probability of"))
    return " ".join(line.strip() for line in lines[first:last]).partition(" = ")[2]


@pytest.mark.parametrize("width", ["50", "200"])
def test_the_printed_equation_gives_the_model_s_probability(run, readable_file, readable, features, evaluate, width):
    right = seen_equation(run("info", readable_file, width=width).stdout)
    values = readable.to_model_features(features)
    for i in range(0, len(features), 11):
        z = evaluate(right, dict(zip(readable.encoder_.feature_names, values[i], strict=True)))
        p = readable.predict_proba(features.iloc[i : i + 1])[0, 1]
        assert 1 / (1 + np.exp(-z)) == pytest.approx(p, rel=1e-12)


def test_info_of_a_readable_model_has_rules_quality_and_the_front(run, run_json, readable_file, readable):
    text = run("info", readable_file).stdout
    for wanted in (
        "What each piece does to the odds of yes",
        "if missing",
        "counts as the nearest end",
        "held-out folds",
    ):
        assert wanted in text
    for gone in ("positive scale", "col(", "KKT", "l1"):
        assert gone not in text
    found = run_json("info", readable_file)
    assert found["l1"] is None
    assert found["n_factors"] == sum(equation.n_factors for equation in readable.equations_.values())
    assert [point["n_factors"] for point in found["front"]] == [candidate.size for candidate in readable.path_]
    (chosen,) = [point for point in found["front"] if point["chosen"]]
    assert ecsel.Signomial.parse(chosen["equations"][0]) == readable.equations_["yes"]


def test_a_row_by_hand_reaches_the_printed_probability(run, readable_file, readable, loans_file, features):
    for row in (1, 18, 77):
        text = run("info", readable_file, loans_file, "--row", row, "--quiet").stdout
        assert text.startswith(f"\nRow {row} by hand")
        lines = re.findall(r"^  .*?(\S+) +× +(\S+) += +(\S+)$", text, re.MULTILINE)
        constant = re.search(r"^  constant +(\S+) += ", text, re.MULTILINE)
        for value, coefficient, product in lines:
            assert float(value) * float(coefficient) == pytest.approx(float(product), abs=6e-5)
        z = sum(float(value) * float(coefficient) for value, coefficient, _ in lines) + float(constant[1])
        p = readable.predict_proba(features.iloc[[row - 1]])[0, 1]
        reported = re.search(r"probability of yes = 1 / \(1 \+ exp\((\S+)\)\) = (\S+)", text)
        assert float(reported[2]) == pytest.approx(p, abs=6e-5)
        assert 1 / (1 + np.exp(-z)) == pytest.approx(p, abs=2e-4)
        assert 1 / (1 + np.exp(float(reported[1]))) == pytest.approx(p, abs=1e-4)
        assert f"predicted: {readable.predict(features.iloc[[row - 1]])[0]}" in text


def test_a_missing_value_of_the_row_is_reported(run, readable_file, loans_file, readable):
    if "debt" in {feature.column for feature in readable.encoder_.features}:
        assert re.search(r"debt = missing( \(counts as|$)", run("info", readable_file, loans_file, "--row", 1).stdout)


def test_a_row_as_json(run_json, readable_file, loans_file, readable, features, law_file, springs_file, model_file):
    found = run_json("info", readable_file, loans_file, "--row", 2)["example"]
    assert found["row"] == 2
    (score,) = found["scores"]
    assert sum(p["value"] * p["coefficient"] for p in score["pieces"]) == pytest.approx(score["sum"], rel=1e-12)
    p = readable.predict_proba(features.iloc[[1]])[0]
    assert [each["value"] for each in found["outcomes"]] == pytest.approx(p.tolist())
    law = run_json("info", law_file, springs_file, "--row", 1)["example"]
    assert law["prediction"] == pytest.approx(law["scores"][0]["sum"])
    assert run_json("info", model_file, loans_file, "--row", 1)["example"]["prediction"] in {"yes", "no"}


def test_a_row_needs_its_table(refused, readable_file, loans_file):
    assert "of which table" in refused("info", readable_file, "--row", 3)
    assert "choose one with --row" in refused("info", readable_file, loans_file)
    assert "there is no row 9999" in refused("info", readable_file, loans_file, "--row", 9999)


def test_a_law_is_called_by_its_target(run, springs_file, law_file, springs, tmp_path):
    for text in (run("info", law_file).stdout, run("info", law_file, springs_file, "--row", "3").stdout):
        assert re.search(r"^energy = 1/2·stiffness\*stretch\*\*2$", text, re.MULTILINE)
        assert "\ny =" not in text
    assert re.search(r"energy +sum +=", text)
    unnamed = tmp_path / "unnamed.json"
    columns = ["stiffness", "stretch"]
    ecsel.ECSELRegressor().fit(springs[columns], springs["energy"].to_numpy()).save(unnamed)
    assert "\ny = 1/2·" in run("info", unnamed).stdout
