"""`ecsel discover` finds the law of a file and tells it in words, as a bare equation, and as JSON."""

import ecsel

LAW = "0.5*stiffness*stretch**2"


def test_the_law_in_three_ways(run, run_json, springs_file, tmp_path):
    path = tmp_path / "law.json"
    assert run("discover", springs_file, "--target", "energy", "--quiet", "-o", path).stdout == f"{LAW}\n"
    assert str(ecsel.load(path).equation_) == LAW
    found = run_json("discover", springs_file, "-t", "energy", "--exponents", "integers")
    assert found["found"]
    assert found["law"]["equation"] == LAW
    text = run("discover", springs_file, "-t", "energy", "--verbose", "--terms", "1").stdout
    assert "energy = " in text
    assert "coefficient" in text


def test_a_given_form(run_json, springs_file):
    found = run_json("discover", springs_file, "-t", "energy", "--form", "a*stiffness*stretch**n")
    assert ecsel.Signomial.parse(found["law"]["equation"]).names == ("stiffness", "stretch")


def test_wrong_options(refused, springs_file, loans_file):
    assert "holds text" in refused("discover", loans_file, "-t", "bad")
    assert "no column" in refused("discover", springs_file, "-t", "power")
    assert "--exponents" in refused("discover", springs_file, "-t", "energy", "--exponents", "odd", code=2)
    assert "form" in refused("discover", springs_file, "-t", "energy", "--form", "a**")


def test_noise_and_units(run, run_json, refused, springs_file):
    found = run_json("discover", springs_file, "-t", "energy", "--noise", "relative")
    assert found["noise"]["kind"] == "relative"
    assert found["adequate"] is True
    known = run_json("discover", springs_file, "-t", "energy", "--noise", "0.5")
    assert known["noise"] == {"kind": "constant", "sigma": 0.5}
    units = ["--units", "energy=J", "--units", "stiffness=N/m", "--units", "stretch=m"]
    assert run("discover", springs_file, "-t", "energy", "--quiet", *units).stdout == f"{LAW}\n"
    assert "noise='loud'" in refused("discover", springs_file, "-t", "energy", "--noise", "loud")
    assert "COLUMN=UNIT" in refused("discover", springs_file, "-t", "energy", "--units", "kg")
    assert "unit of the target" in refused("discover", springs_file, "-t", "energy", "--units", "stretch=m")


def test_why_a_column_was_left_out_is_reported_once_and_is_true(run, springs_file, tmp_path):
    """A column of different names has no "one value only"."""
    import pandas as pd

    table = pd.read_csv(springs_file).head(40)
    path = tmp_path / "named.csv"
    table.assign(sample=[f"spring {k:03d}" for k in range(len(table))], lab="Delft").to_csv(path, index=False)
    reported = run("discover", path, "-t", "energy")
    lines = [line for line in (reported.stdout + reported.stderr).splitlines() if "left out" in line]
    assert sum("sample" in line for line in lines) == 1
    assert not any("sample" in line and "one value" in line for line in lines)
    assert "left out lab: one value only" in lines


def test_outliers_have_the_row_numbers_of_the_file(run, run_json, springs, tmp_path):
    """Counted from 1, rows without a target included."""
    table = springs.copy()
    table.loc[[0, 4], "energy"] = None
    table.loc[20, "energy"] += 40.0
    path, law = tmp_path / "springs.csv", tmp_path / "law.json"
    table.to_csv(path, index=False)
    assert run_json("discover", path, "-t", "energy", "-o", law)["outliers"] == [21]
    assert "row 21, counted from 1" in run("discover", path, "-t", "energy").stdout
    assert "row 19, counted from 1" in run("info", law).stdout  # of the rows that were fitted: the file knows no others
