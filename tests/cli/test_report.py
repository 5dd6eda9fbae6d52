"""`ecsel report` writes one page about the rows that it was given."""


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


def test_wrong_wishes(refused, loans, loans_file, model_file, tmp_path):
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
    assert f"odds of {label!r} = 50" in page.replace("&#39;", "'")
    assert "<h3>9. " in page
    head = page.split("<header>")[1].split("</header>")[0]
    for told in ("A. Analyst", "Date: ", loans_file.name, readable_file.name, "version "):
        assert told in head
    assert "such as 20,600,50,paid" in refused(*command, "--points", "20;600")
    assert "there is no class 'perhaps'" in refused(*command, "--points", "20,600,50,perhaps")
    assert "pdo" in refused(*command, "--points", "0,600,50")
    law = ["report", springs_file, "-t", "energy", "-m", law_file, "-o", path]
    assert "predicts a number" in refused(*law, "--points", "20,600,50")
