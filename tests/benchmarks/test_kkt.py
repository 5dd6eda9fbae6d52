"""The benchmark judges the very objective that the fit minimised."""

import pytest

from benchmarks import kkt
from benchmarks.tables import load
from ecsel import ECSELClassifier
from ecsel.fitting import Newton


@pytest.mark.parametrize("n_terms", [1, 2])
def test_the_problem_posed_anew_is_the_one_that_was_solved(folder, n_terms):
    table = load(folder, "iris")
    model = ECSELClassifier(n_terms=n_terms, l1=0.01).fit(table.X, table.y)
    posed = kkt.Posed.of(model, table)
    assert posed.problem.objective(posed.theta(model)) == pytest.approx(model.fit_report_.objective, rel=1e-9)
    assert posed.problem.size == model.fit_report_.n_parameters


def test_writes_and_resumes(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kkt, "N_STARTS", 2)
    monkeypatch.setattr(kkt, "THOROUGH", Newton(starts=2))
    monkeypatch.setattr(kkt, "TERMS", (1,))
    monkeypatch.setattr(kkt, "STRENGTHS", (0.03,))
    options = ["--data", str(folder), "--tables", "iris", "--output", str(tmp_path)]
    assert kkt.main(options) == 0
    said = capsys.readouterr().out
    assert said.count("table=iris") == 1
    assert "1 of 1" in said
    csv = (tmp_path / "kkt.csv").read_text(encoding="utf-8")
    assert kkt.main([*options, "--resume"]) == 0
    assert "table=iris" not in capsys.readouterr().out
    assert (tmp_path / "kkt.csv").read_text(encoding="utf-8") == csv
    assert "| iris" in (tmp_path / "kkt.md").read_text(encoding="utf-8")
