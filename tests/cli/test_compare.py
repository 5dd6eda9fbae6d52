"""What moved between two tables is found, of columns and of the score."""


def test_compare_finds_what_moved(run_json, run, loans, loans_file, model_file, tmp_path):
    moved = tmp_path / "moved.csv"
    loans.assign(debt=loans["debt"] * 3).to_csv(moved, index=False)
    found = run_json("compare", loans_file, moved, "-m", model_file)
    drift = {each["name"]: each for each in found["drift"]}
    assert drift["debt"]["meaning"] == "moved"
    assert drift["income"]["psi"] == 0
    assert found["drift"][0] == drift["probability of yes"]
    assert drift["probability of yes"]["psi"] > 0.1
    same = run_json("compare", loans_file, loans_file, "-m", model_file)
    assert {each["psi"] for each in same["drift"]} == {0}
    run("compare", loans_file, moved, "-m", model_file, "--fail-above", "0.25", code=3)
    run("compare", loans_file, loans_file, "-m", model_file, "--fail-above", "0.25")
    assert "bin" in run("compare", loans_file, moved, "-m", model_file, "--verbose").stdout


def test_compare_without_a_model_and_of_a_law(run_json, refused, loans_file, springs_file, law_file):
    assert {each["name"] for each in run_json("compare", loans_file, loans_file)["drift"]} >= {"bad", "home"}
    assert run_json("compare", springs_file, springs_file, "-m", law_file)["drift"][0]["name"] == "prediction"
    assert "no column in common" in refused("compare", loans_file, springs_file)
