"""Real tables of the benchmark of laws: whole as published, judged on rows that the fit has not seen."""

import numpy as np
import pytest

from benchmarks import laws_real
from benchmarks.results import ResultFile


@pytest.mark.parametrize(
    ("name", "shape", "mean"),
    [
        ("mammals", (62, 1), 283.1342),
        ("trees", (31, 2), 30.17097),
        ("cpu", (209, 6), 105.6172),
        ("diabetes", (442, 10), 152.1335),
    ],
)
def test_tables_have_their_published_rows(name, shape, mean):
    X, y = laws_real.read_table(name)
    assert X.shape == shape
    assert y.mean() == pytest.approx(mean, rel=1e-5)
    assert np.isfinite(X.to_numpy()).all()


def test_a_row_tells_the_error_on_held_out_rows_and_the_page_shows_it(tmp_path, monkeypatch):
    monkeypatch.setattr(laws_real, "FILE", ResultFile(tmp_path / "real.csv", ("table", "method")))
    assert laws_real.report() == ""
    row = laws_real.FILE.put(laws_real.measure_one("trees", "linear regression"))
    # Volume is nearly a plane in girth and height: R² of the training rows is 0.948.
    assert 0.9 < float(row["r2"]) < 0.948
    assert f"{float(row['r2']):.3f}" in laws_real.report()
