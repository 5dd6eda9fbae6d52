"""What a table holds as text is text in a spreadsheet, and numbers in files have all their digits."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from openpyxl import load_workbook

from ecsel.cli.errors import CommandError
from ecsel.cli.spreadsheet import STARTS_FORMULA, inert
from ecsel.cli.writing import csv_text, table_bytes

HOSTILE = ["=cmd|' /C calc'!A0", '=HYPERLINK("http://x","y")', "+1+cmd", "-2+3", "@SUM(A1)", "#N/A", "\ttab", "plain"]


@pytest.fixture
def frame():
    return pd.DataFrame({"=name": HOSTILE, "value": np.linspace(-1, 1, len(HOSTILE))})


def test_no_cell_of_a_workbook_is_a_formula_or_an_error(frame):
    sheet = load_workbook(io.BytesIO(table_bytes("t.xlsx", frame))).active
    for cell in (cell for row in sheet.iter_rows() for cell in row):
        assert cell.data_type in {"s", "n"}
    assert [cell.value for cell in sheet["A"]] == ["=name", *HOSTILE]
    assert [cell.value for cell in sheet["B"]][1:] == frame["value"].tolist()


def test_a_character_that_no_workbook_holds_is_refused():
    with pytest.raises(CommandError, match=r"write \.csv"):
        table_bytes("t.xlsx", pd.DataFrame({"a": ["\x00"]}))


def test_csv_is_raw_unless_safety_is_asked_for(frame):
    assert pd.read_csv(io.StringIO(csv_text(frame)))["=name"].tolist()[:4] == HOSTILE[:4]
    text = table_bytes("t.csv", frame, safe_csv=True).decode()
    back = pd.read_csv(io.StringIO(text), keep_default_na=False)
    assert not any(str(value).startswith(STARTS_FORMULA) for value in [*back.columns, *back.iloc[:, 0]])
    assert back["value"].tolist() == frame["value"].tolist()


def test_texts_that_are_numbers_and_tables_without_columns_stay():
    frame = pd.DataFrame({"a": ["-1", "+2e5", None, "-x"]})
    assert inert(frame)["a"].tolist()[:2] == ["-1", "+2e5"]
    assert inert(frame)["a"].tolist()[3] == "'-x"
    assert inert(pd.DataFrame()).empty


def test_equal_names_are_not_mixed_up():
    frame = pd.DataFrame([["=1", 2.0]], columns=["a", "a"])
    assert inert(frame).to_numpy().tolist() == [["'=1", 2.0]]


def test_json_keeps_every_digit_and_the_missing():
    values = [0.1 + 0.2, 1e-300 / 3, 5e-324, 123456789012345680.0, np.nan]
    frame = pd.DataFrame({"x": values, "n": [2**62 + 1, 1, 2, 3, 4], "ok": [True] * 5, "t": ["a", None, "é", "", "b"]})
    rows = json.loads(table_bytes("t.json", frame))
    assert [row["x"] for row in rows] == [*values[:-1], None]
    assert rows[0]["n"] == 2**62 + 1
    assert [row["t"] for row in rows] == ["a", None, "é", "", "b"]


def test_commands_write_text_cells_and_safe_csv(run, loans, model_file, tmp_path):
    rows, book = tmp_path / "rows.csv", tmp_path / "answers.xlsx"
    loans.head(2).assign(note=HOSTILE[:2]).to_csv(rows, index=False)
    run("predict", rows, "-m", model_file, "--with-data", "-o", book)
    assert all(cell.data_type != "f" for row in load_workbook(book).active.iter_rows() for cell in row)
    assert HOSTILE[0] in run("predict", rows, "-m", model_file, "--with-data", "--csv").stdout
    safe = pd.read_csv(io.StringIO(run("predict", rows, "-m", model_file, "--with-data", "--csv", "--safe-csv").stdout))
    assert safe["note"].tolist() == [f"'{text}" for text in HOSTILE[:2]]
