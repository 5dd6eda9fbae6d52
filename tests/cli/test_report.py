"""`ecsel report` writes one page about the rows that it was given."""

import re

import pytest


def test_one_page_and_nothing_else(run, loans_file, model_file, tmp_path):
    path = tmp_path / "report.html"
    names = ["--title", "Loans <b>", "--purpose", "Tell bad loans.", "--group", "home", "--fixed", "age"]
    run("report", loans_file, "-t", "bad", "-m", model_file, "-o", path, "--test", loans_file, *names)
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Loans &lt;b&gt;" in page
    assert list(tmp_path.iterdir()) == [path]


def test_a_law(run, springs_file, law_file, tmp_path):
    path = tmp_path / "report.html"
    run("report", springs_file, "-t", "energy", "-m", law_file, "-o", path)
    assert "stretch" in path.read_text(encoding="utf-8")


def test_wrong_options(refused, loans, loans_file, model_file, tmp_path):
    command = ["report", "-m", model_file, "-o", tmp_path / "r.html"]
    assert "no column 'outcome'" in refused(*command, loans_file, "-t", "outcome")
    assert "is no class of the model" in refused(*command, loans_file, "-t", "home")
    unknown = loans.assign(bad=None).to_csv(index=False)
    assert "no row with a known 'bad'" in refused(*command, "-", "-t", "bad", stdin=unknown)
    nowhere = ["report", loans_file, "-t", "bad", "-m", model_file, "-o", tmp_path / "no" / "r.html"]
    assert "make it first" in refused(*nowhere)
    assert list(tmp_path.iterdir()) == []


def test_points_annex_and_the_head(run, refused, loans_file, readable_file, readable, law_file, springs_file, tmp_path):
    path = tmp_path / "report.html"
    label = readable.classes_.tolist()[0]
    command = ["report", loans_file, "-t", "bad", "-m", readable_file, "-o", path]
    run(*command, "--points", f"20,600,50,{label}", "--annex-iv", "--author", "A. Analyst")
    page = path.read_text(encoding="utf-8")
    assert "20 points more double them" in page
    assert f"odds of {label} = 50" in page
    assert "<h3>9. " in page
    head = page.split("<header>")[1].split("</header>")[0]
    for reported in ("A. Analyst", "Date: ", loans_file.name, readable_file.name, "version "):
        assert reported in head
    assert "such as 20,600,50,paid" in refused(*command, "--points", "20;600")
    assert "there is no class 'perhaps'" in refused(*command, "--points", "20,600,50,perhaps")
    assert "pdo" in refused(*command, "--points", "0,600,50")
    law = ["report", springs_file, "-t", "energy", "-m", law_file, "-o", path]
    assert "predicts a number" in refused(*law, "--points", "20,600,50")


def test_row_numbers_are_those_of_the_command_line(run, run_json, loans, readable_file, tmp_path):
    """Rows without an outcome take no part in a report, and still count."""
    data, path = tmp_path / "gaps.csv", tmp_path / "report.html"
    loans.assign(bad=loans["bad"].where(loans.index % 5 != 0)).to_csv(data, index=False)
    run("report", data, "-t", "bad", "-m", readable_file, "-o", path)
    page = path.read_text(encoding="utf-8")
    reported = re.findall(r"Row (\d+): <strong>(\w+) with probability ([\d.]+)\s%</strong>", page)
    assert len(reported) >= 3
    for row, label, chance in reported:
        assert int(row) % 5 != 1  # these have no outcome
        (found,) = run_json("explain", data, "-m", readable_file, "--row", row)["rows"]
        assert (found["row"], found["prediction"]) == (int(row), label)
        assert 100 * found["probability"] == pytest.approx(float(chance), abs=0.051)
    (worked,) = re.findall(r"This is row (\d+) of the training rows: (.+?)\. ", page)
    values = {name: loans[name].iloc[int(worked[0]) - 1] for name in ("income", "age")}
    for name, value in values.items():
        if f"{name} = " in worked[1]:
            assert f"{name} = {value:g}" in worked[1]
    text = run("info", readable_file, data, "--row", worked[0]).stdout
    (product,) = re.findall(r"probability of yes = (.+)", text)[-1:]
    assert product in page
