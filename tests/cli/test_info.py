"""What is told of a model file is what is in it."""

import ecsel


def test_info_has_the_exact_equations(run, run_json, model_file, law_file, model):
    found = run_json("info", model_file)
    assert ecsel.Signomial.parse(found["equations"][0]["equation"]) == model.equations_["yes"]
    assert {c["name"]: c["kind"] for c in found["columns"]}["home"] == "categorical"
    text = run("info", model_file).stdout
    for wanted in ("score of yes", "mortgage, own, rent", "Predicts yes"):
        assert wanted in text
    assert "KKT" in run("info", model_file, "--verbose").stdout
    assert run("info", law_file, "--quiet").stdout == "prediction\t0.5*stiffness*stretch**2\n"
    assert "stiffness" in run("info", law_file).stdout
