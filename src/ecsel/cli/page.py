"""The demo's page: one HTML file without scripts or outside resources; every name is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel import __version__
from ecsel.cli.wording import DIGITS, LINKS, factor_of_odds, number, sentence, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecsel.cli.study import ExplainedRow, Study
    from ecsel.signomial import Signomial, Term
    from ecsel.tables import TableEncoder
    from ecsel.tables.features import Feature

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2433; --soft: #5b6478; --line: #dfe3ea; --paper: #fff; --card: #f6f7fa;
  --for: #1a7f4b; --against: #b3382c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf2; --soft: #a2abbe; --line: #333b4a; --paper: #161a22;
  --card: #1e2430; --for: #4cc48a; --against: #ef7b6d; } }
body { margin: 0 auto; max-width: 54rem; padding: 2rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
p { margin: .5rem 0; } .soft { color: var(--soft); font-size: .92rem; }
.equation { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .9rem;
  margin: .5rem 0; font-family: Georgia, "Times New Roman", serif; line-height: 1.9; }
.equation b { font-family: system-ui, sans-serif; font-size: .92rem; } .factor { white-space: nowrap; }
.factor i { overflow-wrap: anywhere; } sup { font-size: .72em; line-height: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: middle; }
th { font-size: .85rem; color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; padding-left: 0; overflow-wrap: anywhere; }
td.bar { width: 34%; padding-right: 0; } .track { position: relative; height: .95rem; }
.track span { position: absolute; top: 0; bottom: 0; border-radius: 2px; }
.track::before { content: ""; position: absolute; left: 50%; top: -.45rem; bottom: -.45rem; width: 1px;
  background: var(--line); }
.for { color: var(--for); } .against { color: var(--against); }
.track .for { background: var(--for); } .track .against { background: var(--against); }
tr.total td { font-weight: 600; border-bottom: 0; }
"""


def page(study: Study) -> str:
    """Return the page."""
    model = study.model
    intro = (
        f"{study.table}. {study.n_train + study.n_held_out} rows, {study.n_columns} columns: {study.n_train} rows to "
        f"fit, {study.n_held_out} held out."
    )
    parts = [
        "<h1>A model that is its own explanation</h1>",
        _p(intro),
        "<h2>The model</h2>",
        *(_equation(label, equation) for label, equation in model.equations_.items()),
        _p(f"{LINKS[model.link_]}."),
        _p(
            "A name stands for that column on a positive scale (below). Where the scaled value grows by 1 %, its term "
            "changes by its exponent in per cent.",
            "soft",
        ),
        f"<h2>Quality on the {study.n_held_out} held-out rows</h2>",
        _quality(study),
        "<h2>One row explained</h2>",
        *_row(study.row),
        "<h2>The positive scale of each column</h2>",
        _scales(model.encoder_, {name for equation in model.equations_.values() for name in equation.names}),
        _p(f"Written by ecsel {__version__}. This page has no scripts and loads nothing.", "soft"),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>ecsel demo</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def _text(value: Any) -> str:
    return escape(shown(value))


def _p(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _equation(label: Any, equation: Signomial) -> str:
    terms = "".join(_term(term, first=k == 0) for k, term in enumerate(equation.terms)) or "0"
    return f'<div class="equation"><b>score of {_text(label)}</b> = {terms}</div>'


def _term(term: Term, *, first: bool) -> str:
    minus, plus = ("−", "") if first else (" − ", " + ")
    sign = minus if term.coefficient < 0 else plus
    coefficient = format(abs(term.coefficient), DIGITS)
    factors = [
        f'<span class="factor"><i>{_text(name)}</i><sup>{format(float(b), DIGITS).replace("-", "−")}</sup></span>'
        for name, b in term.exponents.items()
    ]
    return sign + " · ".join([coefficient, *factors])


def _table(headings: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _cells(*cells: str) -> str:
    return "".join(f"<td>{cell}</td>" for cell in cells)


def _quality(study: Study) -> str:
    rows = [
        f"<tr>{_cells(escape(q.model), f'{q.accuracy:.3f}', f'{q.log_loss:.3f}', f'{q.auc:.3f}', str(q.numbers))}</tr>"
        for q in study.qualities
    ]
    note = _p("One split of a small table: small differences may be chance.", "soft")
    return _table(("model", "accuracy", "log-loss", "AUC", "numbers in the model"), rows) + note


def _row(row: ExplainedRow) -> list[str]:
    a, b = shown(row.predicted), shown(row.rival)
    outcome = "which is right" if row.predicted == row.truth else f"but it is {shown(row.truth)}"
    largest = max((abs(r.log_odds) for r in row.reasons), default=1.0)
    rows = [f"<tr>{_cells('average training row', '', '', f'{np.exp(row.base):.3g}')}<td class='bar'></td></tr>"]
    for r in row.reasons:
        kind, share = ("for" if r.log_odds > 0 else "against"), 50 * abs(r.log_odds) / largest
        side = f"left:50%;width:{share:.2f}%" if r.log_odds > 0 else f"right:50%;width:{share:.2f}%"
        typical = "" if r.typical is None else escape(number(r.typical))
        odds = f'<span class="{kind}">{factor_of_odds(r.odds)}</span>'
        bar = f'<td class="bar"><div class="track"><span class="{kind}" style="{side}"></span></div></td>'
        rows.append(f"<tr>{_cells(_text(r.column), escape(number(r.value)), typical, odds)}{bar}</tr>")
    rows.append(
        f'<tr class="total">{_cells("this row", "", "", f"{np.exp(row.margin):.3g}")}<td class="bar"></td></tr>'
    )
    return [
        _p(f"The held-out row that the model is least sure of: {a} with probability {row.probability:.3f}, {outcome}."),
        _p(
            f"Why {a} rather than {b}? "
            + "; ".join(sentence(r, row.predicted, row.rival) for r in row.reasons[:3])
            + "."
        ),
        _table(("column", "value", "typical", f"odds {a} : {b}", ""), rows),
        _p("Exact Shapley values of the scores: the factors multiply to the odds of this row.", "soft"),
    ]


def _scales(encoder: TableEncoder, used: set[str]) -> str:
    rows = [
        f"<tr>{_cells(_text(f.name), f'{f.low:.4g}', f'{f.high:.4g}', _affine(f))}</tr>"
        for f in encoder.features
        if f.name in used
    ]
    return _table(("name", "lowest x in training", "highest x in training", "on the positive scale"), rows)


def _affine(feature: Feature) -> str:
    sign = "−" if feature.offset < 0 else "+"
    return f"{feature.scale:.4g} · x {sign} {abs(feature.offset):.4g}"
