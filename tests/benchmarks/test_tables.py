"""Tables are read as their docstring says."""

import numpy as np
import pandas as pd

from benchmarks.tables import load


def test_the_last_column_is_the_class(folder):
    table = load(folder, "iris")
    assert table.X.shape == (150, 4)
    np.testing.assert_array_equal(np.bincount(table.y), [50, 50, 50])


def test_compas_is_filtered_and_does_not_leak(tmp_path):
    row = {
        "sex": "Male",
        "age": 30,
        "race": "Caucasian",
        "juv_fel_count": 0,
        "juv_misd_count": 0,
        "juv_other_count": 0,
        "priors_count": 1,
        "c_charge_degree": "F",
        "days_b_screening_arrest": 0.0,
        "decile_score": 5,
        "is_recid": 1,
        "two_year_recid": 1,
    }
    changes = [
        {},
        {"days_b_screening_arrest": 31.0},
        {"days_b_screening_arrest": np.nan},
        {"is_recid": -1},
        {"c_charge_degree": "O"},
        {"race": "Other"},
        {"race": "African-American", "two_year_recid": 0},
    ]
    frame = pd.DataFrame([{**row, **change} for change in changes])
    frame.to_csv(tmp_path / "compas_propublica7214.csv.gz", index=False)
    table = load(tmp_path, "compas")
    assert table.y.tolist() == [1, 0]
    assert not {"decile_score", "is_recid", "two_year_recid"} & set(table.X)
    # two levels of race beside one of sex and of degree, and five numbers
    assert table.numbers.shape == (2, 5 + 1 + 2 + 1)
