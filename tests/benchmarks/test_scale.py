"""The scale benchmark on small tables: cells, findings, and what is written."""

import numpy as np
import pytest

from benchmarks import paysim, scale, scale_report, transactions


def test_generated_payments_are_plausible():
    X, y = transactions.transactions(20_000)
    assert X.shape == (20_000, 13)
    assert np.isfinite(X.to_numpy()).all()
    assert 0.0005 < y.mean() < 0.01
    assert (X[list(transactions.TYPES)].sum(axis=1) == 1).all()


def test_every_part_has_its_cells():
    cells = scale.plan(list(scale.PARTS), 0.001)
    assert {cell[0] for cell in cells} == set(scale.PARTS)
    assert len({cell[:2] + cell[3:] for cell in cells if cell[0] != "linear"}) + len(scale.LADDER) == len(cells)


def test_findings_are_ratios(monkeypatch, tmp_path):
    seconds = {"ecsel": 1.0, "xgboost": 20.0}

    def text(cell):
        method, rows = cell[1].split()[0], cell[2]
        return {"seconds": seconds.get(method, 5.0) * rows / 1e6, "memory": 10.0, "objective": 0.5, "note": ""}

    monkeypatch.setattr(scale, "run_cell", text)
    monkeypatch.setattr(scale, "surroundings", lambda _: "here")
    assert scale.main(["--output", str(tmp_path), "--parts", "race,linear,predict"]) == 0
    page = (tmp_path / "scale.md").read_text(encoding="utf-8")
    assert "takes 0.050 of XGBoost's time" in page
    assert "Slope of log seconds over log rows: 1.00" in page
    assert "proba: 20.0 times as fast" in page
    with pytest.raises(SystemExit):
        scale.main(["--parts", "nothing"])


def cells(part, seconds):
    return [
        {"part": part, "method": name, "rows": str(n), "seconds": str(t), "seed": "0", "note": "8 rounds"}
        for name, n, t in seconds
    ]


def test_the_model_of_cost_finds_its_constants_again():
    ladder = cells("linear", [("ecsel", n, 0.5 + 2e-7 * n) for n in (10**5, 10**6, 10**7)])
    assert scale_report.line_of(ladder) == pytest.approx((0.5, 2e-7))
    dask = cells("dask", [("ecsel on 1", 4_000_000, 3 + 4.0), ("ecsel on 2", 4_000_000, 3 + 2.0)])
    assert scale_report.shared_part(*dask) == pytest.approx((3.0, 1e-6))
    text = "\n".join(scale_report.cost_model([*ladder, *dask]))
    assert "s = 0.50 s and a = 200 ns" in text
    assert "f = 3.0 s and b = 1000 ns" in text
    assert "| 1e10 | 10,003" in text.replace("  ", " ")


def test_no_speed_up_is_said():
    dask = cells("dask", [("ecsel on 1", 4_000_000, 4.0), ("ecsel on 2", 4_000_000, 5.0)])
    assert "no faster" in "\n".join(scale_report.cost_model(dask))


def test_a_cell_measures_seconds_and_memory():
    cell = scale.fit_cell("logistic", 2000, 0)
    assert cell["seconds"] > 0
    assert cell["memory"] >= 0


def test_the_features_of_the_fraud_study(tmp_path):
    rng = np.random.default_rng(0)
    n = 400
    import pandas as pd

    log = pd.DataFrame(
        {
            "step": rng.integers(1, 700, n),
            "type": rng.choice(["CASH_IN", *paysim.TYPES], n),
            "amount": rng.lognormal(8, 1, n),
            "oldbalanceOrg": rng.choice([0.0, 1e4], n),
            "newbalanceOrig": 0.0,
            "oldbalanceDest": 0.0,
            "newbalanceDest": rng.choice([0.0, 5.0], n),
            "isFraud": rng.random(n) < 0.2,
        }
    ).astype({"isFraud": int})
    log.to_csv(tmp_path / "log.csv", index=False)
    X = paysim.features(paysim.read_log(tmp_path / "log.csv"))
    assert X.shape == (n, 11)
    assert X["pct_balance_taken"].between(0, 1).all()
    assert ((X["externalOrig"] == 1) == (log["oldbalanceOrg"] == 0)).all()
    split = paysim.Split.of(X, log["isFraud"].to_numpy())
    measures = paysim.evaluate(paysim.ECSELClassifier(n_terms=1, l1=1e-2).fit(*split.train), split)
    assert 0 <= measures["f1"] <= 100
    assert 0 <= measures["auc"] <= 1


def test_an_equation_is_read_out():
    from ecsel import Signomial

    words = paysim.in_words(Signomial.parse("0.5*amount**2*hour**-1 - 3"))
    assert words == (
        "The score is a term of 0.5 that speaks for fraud and grows with amount (to the 2) and falls with hour "
        "(to the -1); plus a constant of -3."
    )
