"""`to_excel`: the model as a workbook of live formulas: type a row, see probabilities, the label and contributions.

Four sheets: *Predict* to type into, *Calculation* with every step of the model from left to right, *Levels* with the
levels of columns and what they are worth, and *About*. Names of columns, levels and classes are text cells, whatever
they begin with, and occur in no formula.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ecsel.explain.view import ModelView
from ecsel.export.program.doubles import check_levels_are_doubles
from ecsel.export.program.lowering import lower
from ecsel.export.readable.text import to_text
from ecsel.export.targets.excel_formulas import ROW, FormulaWriter, letters

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from ecsel.export.program.contributions import Method
    from ecsel.export.program.program import InputColumn, Program
    from ecsel.tables import Level

FIRST_ROW = 4
"""The first row to type into, after a title and two rows of headings; the same on the sheet of calculations."""
LONGEST_TEXT = 32767
_NOT_IN_XML = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def to_excel(
    model: Any,
    path: str | os.PathLike[str],
    *,
    rows: int | Sequence[Mapping[str, Any]] = 20,
    contributions: Method | Literal["auto"] | None = "auto",
    baseline: Any = None,
) -> None:
    """Write the model as an Excel workbook of live formulas.

    The sheet *Predict* has one column per raw column that the equations use, with drop-down lists for levels, and then
    the label, the probability of each class (or the prediction) and the contributions. An empty cell is a missing
    value; a row without any value stays empty, and so do all answers on a row that the model refuses.

    Parameters
    ----------
    model : ECSELClassifier, ECSELRegressor or Signomial
        The model.
    path : path-like
        The workbook to write, ``*.xlsx``.
    rows : int or sequence of dicts, default=20
        How many rows get formulas, or rows by column name to begin with. More can be had by copying the last row of
        *Predict* and of *Calculation* down.
    contributions : {"auto", "log_additive", "attribution", "shapley"} or None, default="auto"
        What each column contributes: to the logarithm of each term (L1), to the scores to first order (L2), or as exact
        Shapley values of the scores, which ``"auto"`` means wherever there is a baseline.
    baseline : None, dict of columns, row or Baseline, optional
        The reference point of the contributions; by default a typical training row.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from ecsel import Signomial
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "law.xlsx"
    >>> to_excel(Signomial.parse("3*x**2/y"), path)
    >>> path.stat().st_size > 0
    True
    """
    view = ModelView.of(model)
    if contributions == "auto":
        contributions = None if view.encoder is None and baseline is None else "shapley"
    workbook_of(view, lower(view, contributions=contributions, baseline=baseline), rows).save(path)


def workbook_of(view: ModelView, program: Program, rows: int | Sequence[Mapping[str, Any]]) -> Any:
    """Return the workbook of a program, an openpyxl one."""
    try:
        import openpyxl  # noqa: PLC0415  # optional
    except ImportError as error:
        raise ImportError('to_excel() needs openpyxl: pip install "ecsel[excel]"') from error
    n_rows = rows if isinstance(rows, int) else len(rows)
    if n_rows < 1:
        raise ValueError("the workbook needs at least one row")
    check_levels_are_doubles(program)
    _check_lengths(program)
    writer = FormulaWriter(program)
    writer.write()
    last_row = FIRST_ROW + (n_rows if program.inputs else 1) - 1
    book = openpyxl.Workbook()
    predict = book.active
    predict.title = "Predict"
    _write_predict(predict, writer, last_row)
    _add_validation(predict, view, writer, last_row)
    given = [_typical(view, program.inputs)] if isinstance(rows, int) else rows
    for row, values in enumerate(given, start=FIRST_ROW):
        for i, column in enumerate(program.inputs, start=1):
            _type_in(predict, row, i, values.get(column.name))
    _write_calculation(book.create_sheet("Calculation"), writer, last_row)
    _write_levels(book.create_sheet("Levels"), writer)
    _write_about(book.create_sheet("About"), view, program)
    return book


def cell_text(text: str) -> str:
    """Return text as a workbook stores it: what XML cannot hold is written as _xHHHH_, and so is what looks like that.

    Examples
    --------
    >>> cell_text("=1+1"), cell_text("bell" + chr(7)), cell_text("_x0041_")
    ('=1+1', 'bell_x0007_', '_x005F_x0041_')

    A name that is longer than a cell is cut.
    """
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _NOT_IN_XML.sub(lambda match: f"_x{ord(match.group()):04X}_", paired)[:LONGEST_TEXT]


def _check_lengths(program: Program) -> None:
    for column in program.inputs:
        if any(isinstance(level, str) and len(cell_text(level)) == LONGEST_TEXT for level in column.known):
            raise ValueError(
                f"column {column.name!r} has a level that is longer than a cell: shorten it before fitting"
            )


def put(sheet: Any, row: int, column: int, value: Level, *, bold: bool = False) -> Any:
    """Write a value that is no formula, whatever it looks like."""
    from openpyxl.styles import Font  # noqa: PLC0415

    cell = sheet.cell(row, column)
    if isinstance(value, str):
        cell.value = cell_text(value)
        cell.data_type = "s"
        cell.quotePrefix = True
    else:
        cell.value = value
    if bold:
        cell.font = Font(bold=True)
    return cell


def _write_predict(sheet: Any, writer: FormulaWriter, last_row: int) -> None:
    from openpyxl.styles import PatternFill  # noqa: PLC0415

    program = writer.program
    n_inputs = len(program.inputs)
    put(sheet, 1, 1, "Type a row into the coloured cells; the answers follow to the right of them.", bold=True)
    yellow = PatternFill("solid", fgColor="FFF8DC")
    for i, column in enumerate(program.inputs):
        put(sheet, 2, i + 1, "number" if column.levels is None else column.kind)
        put(sheet, 3, i + 1, column.name, bold=True)
        for row in range(FIRST_ROW, last_row + 1):
            sheet.cell(row, i + 1).fill = yellow
    for j, (group, title, formula) in enumerate(_answers(writer), start=n_inputs + 1):
        put(sheet, 2, j, group)
        put(sheet, 3, j, title, bold=True)
        for row in range(FIRST_ROW, last_row + 1):
            empty = f"COUNTA($A{row}:${letters(n_inputs)}{row})=0" if n_inputs else "FALSE"
            sheet.cell(row, j).value = f'=IF({empty},"",{formula.replace(ROW, str(row))})'
        sheet.column_dimensions[letters(j)].width = 16
    sheet.freeze_panes = sheet.cell(FIRST_ROW, 1)


def _answers(writer: FormulaWriter) -> Iterator[tuple[str, Level, str]]:
    """Yield the group, the title and the formula of everything that is shown."""
    program = writer.program

    def cell(variable: str) -> str:
        return f"Calculation!{writer.variables[variable]}"

    if program.decision is None:
        yield "", "prediction", cell(program.outputs[0])
    else:
        decision = cell(program.decision)
        cells = writer.list_levels("classes", program.classes)
        as_text = '&""' if all(isinstance(label, str) for label in program.classes) else ""
        yield "", "label", f'IF({decision}="","",INDEX({cells},{decision}+1){as_text})'
        for label, variable in zip(program.classes, program.outputs, strict=True):
            yield "probability of", label, cell(variable)
    for each in program.contributions:
        term = "" if each.term is None else f"log |term {each.term + 1}| of "
        at_baseline = "not defined" if each.base_value is None else f"{each.base_value:.6g}"
        group = f"contribution to {term}{each.label} (at the baseline {at_baseline})"
        if each.noun != "contribution":
            group = f"{each.noun} for {each.label} ({each.base_noun.replace('_', ' ')} {each.base_value!r})"
        for column, variable in each.by_column:
            yield group, column, cell(variable)


def _add_validation(sheet: Any, view: ModelView, writer: FormulaWriter, last_row: int) -> None:
    """Add lists of levels, and warnings outside of the training range; neither forbids anything."""
    from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415

    for i, column in enumerate(writer.program.inputs):
        described = view.numeric_column(view.column_position(column.name))
        if column.kind == "boolean":
            rule = DataValidation(type="list", formula1='"TRUE,FALSE"')
        elif i in writer.level_ranges:
            rule = DataValidation(type="list", formula1=writer.level_ranges[i], error="This level is unknown.")
        elif described is not None:
            low, high = described.low, described.high
            rule = DataValidation(type="decimal", formula1=repr(low).upper(), formula2=repr(high).upper())
            rule.error = f"This is outside of the training range, {low:.6g} to {high:.6g}."
        else:
            continue
        rule.errorStyle, rule.showErrorMessage, rule.allow_blank = "warning", True, True
        rule.add(f"{letters(i + 1)}{FIRST_ROW}:{letters(i + 1)}{last_row}")
        sheet.add_data_validation(rule)


def _write_calculation(sheet: Any, writer: FormulaWriter, last_row: int) -> None:
    put(sheet, 1, 1, "Every step of the model, from left to right; nothing to type here.", bold=True)
    for j, column in enumerate(writer.calculation, start=1):
        put(sheet, 3, j, column.title)
        for row in range(FIRST_ROW, last_row + 1):
            sheet.cell(row, j).value = "=" + column.formula.replace(ROW, str(row))
    sheet.freeze_panes = sheet.cell(FIRST_ROW, 1)


def _write_levels(sheet: Any, writer: FormulaWriter) -> None:
    for j, column in enumerate(writer.levels, start=1):
        put(sheet, 1, j, column.title, bold=True)
        for row, value in enumerate(column.cells, start=2):
            put(sheet, row, j, value)


def _write_about(sheet: Any, view: ModelView, program: Program) -> None:
    lines: list[list[Level]] = [
        ["A fitted model of ecsel."],
        ["An empty cell is a missing value. All answers are empty on a row that the model refuses."],
    ]
    if view.threshold is not None:
        lines.append(["The second class is predicted where its probability is at least", view.threshold])
    lines += [[], ["column", "values", "training range or levels", "", "an empty cell is"]]
    for column in program.inputs:
        described = view.numeric_column(view.column_position(column.name))
        extremes: list[Level] = ["", ""] if described is None else [described.low, described.high]
        if column.levels is not None:
            extremes = [f"{len(column.levels)} levels, see the sheet Levels", ""]
        empty = "refused" if column.refuses_missing else "a missing value"
        lines.append(
            [column.name, "number" if column.levels is None else column.kind, *extremes, empty, column.description]
        )
    lines += [[], ["the equations"]]
    lines += [[line] for line in to_text(view).splitlines()]
    for row, line in enumerate(lines, start=1):
        for j, value in enumerate(line, start=1):
            put(sheet, row, j, value)
    sheet.column_dimensions["A"].width = 40


def _type_in(sheet: Any, row: int, column: int, value: Any) -> None:
    """Write a value of a table; a missing one leaves its cell empty, and an infinite one becomes text."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value:  # noqa: PLR0124 - NaN, also those of other types than float
        return
    is_infinite = isinstance(value, float) and np.isinf(value)
    put(sheet, row, column, value if isinstance(value, (bool, int, float, str)) and not is_infinite else str(value))


def _typical(view: ModelView, inputs: Sequence[InputColumn]) -> dict[str, Level]:
    """Return a row to begin with: typical numbers in training and first levels; nothing where they are unknown."""
    means = {}
    for feature in () if view.encoder is None else view.encoder.features:
        if feature.kind == "number":
            means[feature.column] = feature.baseline
        elif feature.kind == "numeric":
            means[feature.column] = feature.raw_value(float(np.exp(feature.baseline)))
        elif feature.kind == "level" and feature.baseline == 1 and isinstance(feature.level, (int, float)):
            means.setdefault(feature.column, float(feature.level))
    typical: dict[str, Level] = {}
    for column in inputs:
        if column.levels:
            typical[column.name] = column.levels[0]
        elif column.name in means:
            j = view.column_position(column.name)
            typical[column.name] = round(means[column.name]) if view.is_whole(j) else float(f"{means[column.name]:.4g}")
        elif (known := view.numeric_column(view.column_position(column.name))) is not None:
            # pieces of other levels alone do not know the median; an empty cell would be refused
            typical[column.name] = round(known.low) if float(known.low).is_integer() else known.low
    return typical
