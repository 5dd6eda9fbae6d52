"""Equations on the terminal, what helps to read them, and a row worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ecsel.cli.models import equations_of, is_classifier, is_readable
from ecsel.cli.wording import is_log_odds, link_line, number, score_name, wrapped_equation
from ecsel.estimators.odds import odds_phrases
from ecsel.estimators.odds_product import is_product_of_powers, odds_factors
from ecsel.estimators.readable_summary import repeated_columns
from ecsel.estimators.summary import remarks
from ecsel.report.front import Front
from ecsel.report.pieces import equation_lines
from ecsel.report.wording import exact
from ecsel.report.worked import outcome_steps
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from rich.console import Console

    from ecsel.report.worked import WorkedExample

MAX_WIDTH = 120
"""Columns of a terminal beyond which lines are hard to follow."""


def show_equations(console: Console, model: Any, *, other_sizes: bool = True) -> None:
    """Print the equations for people, how scores become probabilities, and what another size would bring."""
    if is_readable(model):
        _show_readable(console, model)
        if is_classifier(model):
            console.print(f"  {link_line(model)}", soft_wrap=True)
            _show_product(console, model)
            _show_threshold(console, model)
        if sentence := Front.of(model).sentence(other_sizes=other_sizes):
            show_prose(console, f"{sentence}.", "dim")
        return
    _show_powers(console, model)
    if is_classifier(model):
        console.print(f"  {link_line(model)}", soft_wrap=True)
        _show_threshold(console, model)


def show_prose(console: Console, text: str, style: str = "") -> None:
    """Print a line of words, broken between words, with the indent that it begins with."""
    indent = 2 + len(text) - len(text.lstrip())
    line = Padding(Text(text.lstrip(), style=style), (0, 0, 0, indent), expand=False)
    console.print(line, width=min(console.width, MAX_WIDTH))


def _show_readable(console: Console, model: Any) -> None:
    """Print equations of raw columns: on a line where they fit, else a piece a line."""
    for label, equation in equations_of(model).items():
        name = f"  {score_name(model, label)} ="
        lines = equation_lines(equation, min(console.width, MAX_WIDTH) - len(name) - 1)
        if not equation.terms:
            lines[0] += "   (the class that the others are compared with)"
        head = Text.assemble((name, "bold"), (f" {lines[0]}" if len(lines) == 1 else "", "cyan"))
        console.print(head, soft_wrap=True)
        for line in lines if len(lines) > 1 else ():
            console.print(Text(f"      {line}", style="cyan"), soft_wrap=True)


def _show_product(console: Console, model: Any) -> None:
    """Print log-odds of logarithms and levels as a product of powers, which is what the odds are."""
    if not is_log_odds(model):
        return
    ((label, equation),) = model.equations_.items()
    if not is_product_of_powers(equation, model.encoder_):
        return
    name, factors = f"  odds of {format_name(label)} =", odds_factors(equation)
    whole = " * ".join(factors)
    if len(name) + 1 + len(whole) <= min(console.width, MAX_WIDTH):
        console.print(Text.assemble((name, "bold"), (f" {whole}", "cyan")), soft_wrap=True)
        return
    console.print(Text(name, style="bold"), soft_wrap=True)
    for k, factor in enumerate(factors):
        console.print(Text(f"      {'* ' if k else '  '}{factor}", style="cyan"), soft_wrap=True)


def _show_threshold(console: Console, model: Any) -> None:
    """Print from which probability on the second of two classes is predicted."""
    if model.threshold_ is not None:
        label = format_name(model.classes_.tolist()[1])
        console.print(
            f"  predicts {label} where its probability is at least {number(model.threshold_)}", soft_wrap=True
        )


def _show_powers(console: Console, model: Any) -> None:
    """Print laws and the paper's model, whose exponents have many digits, wrapped between terms and factors."""
    table = Table.grid(padding=(0, 2, 0, 0))
    width = min(console.width, MAX_WIDTH)
    names = {label: score_name(model, label) for label in equations_of(model)}
    for label, equation in equations_of(model).items():
        lines = wrapped_equation(equation, width - max(map(len, names.values())) - 9)
        table.add_row(Text(f"  {names[label]}", style="bold"), "=", Text("\n".join(lines), style="cyan"))
    console.print(table, width=width)


def reading_aids(model: Any) -> list[str]:
    """Return what helps to read the equations of a classifier: what pieces do to the odds, or how terms bend.

    Of several classes each has a line of its own, and the lines below it are indented.
    """
    if not is_classifier(model):
        return []
    if model.encoder_.is_raw:
        lines = []
        for label, equation in model.equations_.items():
            pieces = [term for term in equation.terms if not term.is_constant]
            phrases = [phrase for term in pieces for phrase in odds_phrases(term, model.encoder_)]
            if phrases and not is_log_odds(model):
                phrases = [f"{format_name(label)}:", *(f"  {phrase}" for phrase in phrases)]
            lines += phrases
        return lines + repeated_columns(list(model.equations_.values()), model.encoder_)
    several = len(model.equations_) > 1
    found = [
        f"{format_name(label)}: {remark.strip('()')}" if several else remark.strip("()")
        for label, equation in model.equations_.items()
        for remark in remarks(equation, model.encoder_)
    ]
    return [*found, "a name stands for that column on a positive scale, as `ecsel info` tells"]


def aids_heading(model: Any) -> str:
    """Return what `reading_aids` of a readable classifier tell."""
    if is_log_odds(model):
        return f"What each piece does to the odds of {format_name(model.classes_.tolist()[1])}"
    return "What each piece does to the odds of its class against any other"


def show_example(console: Console, model: Any, example: WorkedExample) -> None:
    """Print a row worked out as with a pocket calculator."""
    for each in example.inputs:
        remark = f" ({each.remark})" if each.remark else ""
        console.print(f"  {format_name(each.column)} = {exact(each.value)}{remark}", soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in ("piece", "value", "", "coefficient", "", "product"):
        table.add_column(heading, justify="left" if heading == "piece" else "right", overflow="fold")
    for score in example.scores:
        for piece in score.pieces:
            if piece.text:
                cells = (piece.value_text, "×", piece.coefficient_text, "=", piece.product_text)
            else:
                cells = ("", "", piece.coefficient_text, "=", piece.product_text)
            table.add_row(Text(format_name(piece.text) if piece.text else "constant"), *cells)
        total = Text(score_name(model, score.label), style="bold")
        table.add_row(total, "", "", "sum", "=", Text(score.total_text, style="bold"))
        if len(example.scores) > 1:
            table.add_row()
    console.print(Padding(table, (1, 0, 0, 2), expand=False))
    for line in outcome_steps(model, example):
        console.print(f"  {line}", soft_wrap=True)
