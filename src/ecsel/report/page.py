"""Everything that the templates show, gathered once: sections as values, data for the scripts, and a policy.

The policy (Content-Security-Policy) forbids every request, and every script and style but the ones of this page, which
it names by their hashes: even a name that slipped through all escaping could not run.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel import __version__
from ecsel.explain.counterfactual.options import protected_columns
from ecsel.report.annex import AnnexPoint, Fact, annex_points
from ecsel.report.controls import controls, sample
from ecsel.report.data import DataSummary, data_summary
from ecsel.report.drivers import Drivers, drivers
from ecsel.report.effects import Effects, effects
from ecsel.report.evidence import typical_row
from ecsel.report.examples import Example, examples
from ecsel.report.fairness import Fairness, fairness
from ecsel.report.formulas import Formulas, formulas
from ecsel.report.limits import limits
from ecsel.report.maps import DecisionMap, decision_map
from ecsel.report.mathml import piece
from ecsel.report.performance import ClassPerformance, class_performance
from ecsel.report.points import Points, points
from ecsel.report.regression import ValuePerformance, value_performance
from ecsel.report.script import script
from ecsel.report.wording import count, exact
from ecsel.report.worked import WorkedExample, WorkedPiece, outcome_steps, worked_example
from ecsel.signomial.text import format_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ecsel.export.readable.scorecards import Scorecard
    from ecsel.report.evidence import Evidence
    from ecsel.report.html import Html


LONGEST_IN_HEAD = 60
"""Longer details, such as a digest of the model file, are on the model card alone."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What the author of a report asks for and says."""

    title: str
    purpose: str | None
    group: Any
    costs: Any
    immutable: Collection[str] | None
    """None: the columns whose names sound like protected attributes."""
    limits: Sequence[str]
    details: Mapping[str, str]
    sample_rows: int
    n_bootstrap: int
    column_texts: Mapping[str, str] | None
    annex_iv: bool | Mapping[int, str]
    points: Scorecard | None


@dataclass(frozen=True, slots=True)
class RowByHand:
    """One row, worked out as with a pocket calculator."""

    name: str
    inputs: tuple[tuple[str, str, str], ...]
    """Columns with their values and remarks."""
    worked: WorkedExample
    steps: tuple[str, ...]

    @staticmethod
    def typeset(line: WorkedPiece) -> Html:
        """Return a piece as the equation shows it."""
        return piece(line.term)


@dataclass(frozen=True, slots=True)
class Page:
    """The page as values; the templates add words and layout only."""

    title: str
    purpose: str | None
    task: str
    target: str
    has_classes: bool
    held_out: bool
    evaluated_name: str
    reference: str
    """The row that explanations compare with, in words."""
    quality_of: str
    """The rows that the headline figures are of."""
    evaluated_how: str
    """The same as the tile beside their number says it."""
    fixed: tuple[str, ...]
    """Columns that no suggested change touches."""
    protected: tuple[str, ...]
    """Columns whose names sound like protected attributes."""
    data: DataSummary
    formulas: Formulas
    example: RowByHand
    effects: Effects
    classes: ClassPerformance | None
    values: ValuePerformance | None
    drivers: Drivers
    decision_map: DecisionMap | None
    fairness: Fairness | None
    examples: tuple[tuple[Example, int], ...]
    """Each with its position in the sample."""
    limits: tuple[str, ...]
    annex: tuple[AnnexPoint, ...]
    """The headings of Annex IV; empty where they were not asked for."""
    points: Points | None
    head: tuple[tuple[str, str], ...]
    """The details that are short enough for the head of the page."""
    details: tuple[tuple[str, str], ...]
    card: tuple[tuple[str, str], ...]
    script: str
    island: dict[str, Any]
    version: str


def build_page(evidence: Evidence, options: PageOptions) -> Page:
    """Compute every section."""
    view = evidence.view
    protected = protected_columns(view)
    immutable = protected if options.immutable is None else options.immutable
    for name in immutable:
        view.column_position(name)
    fixed = {*immutable, *([options.group] if isinstance(options.group, str) else [])}
    classes = class_performance(evidence, options.costs) if view.has_classes else None
    values = None if view.has_classes else value_performance(evidence)
    if values is not None and options.costs is not None:
        raise ValueError("costs are for two classes, but the model is a regression.")
    driven = drivers(evidence)
    explained = examples(evidence, fixed, options.column_texts)
    start = typical_row(evidence)
    positions, rows = sample(evidence, [start, *(each.position for each in explained)], options.sample_rows)
    source, method = script(view, evidence.baseline)
    places = [int(np.searchsorted(positions, each.position)) for each in explained]
    first = int(np.searchsorted(positions, start))
    draws = evidence.bootstrap(options.n_bootstrap)
    equations = formulas(evidence, draws)
    details = tuple((str(key), str(value)) for key, value in options.details.items())
    return Page(
        title=options.title,
        purpose=options.purpose,
        task=_task(evidence),
        target=format_name(evidence.target),
        has_classes=view.has_classes,
        held_out=evidence.held_out,
        evaluated_name=evidence.evaluated_name,
        reference=evidence.baseline.description,
        quality_of=quality_rows(classes, evidence),
        evaluated_how="training rows, each by a fit that had not seen it"
        if quality_rows(classes, evidence).startswith("held-out folds")
        else quality_rows(classes, evidence),
        fixed=tuple(format_name(name) for name in view.raw_names if name in fixed),
        protected=tuple(format_name(name) for name in protected),
        data=data_summary(evidence),
        formulas=equations,
        example=_by_hand(evidence, start),
        effects=effects(evidence, driven.ranking, start, draws),
        classes=classes,
        values=values,
        drivers=driven,
        decision_map=decision_map(evidence, driven.ranking, start),
        fairness=fairness(evidence, options.group),
        examples=tuple(zip(explained, places, strict=True)),
        limits=limits(evidence, options.limits),
        annex=() if options.annex_iv is False else _annex(evidence, options, equations, classes or values),
        points=points(evidence, options.points),
        head=tuple((name, value) for name, value in details if len(value) <= LONGEST_IN_HEAD),
        details=details,
        card=_card(
            evidence,
            equations,
            f"{count(len(evidence.evaluated))} {evidence.evaluated_name}"
            if classes is None or classes.figures_of == evidence.evaluated_name
            else classes.figures_of,
        ),
        script=source,
        island=_island(evidence, controls(evidence, fixed), rows, first, method, classes),
        version=__version__,
    )


def _by_hand(evidence: Evidence, position: int) -> RowByHand:
    worked = worked_example(evidence.view, evidence.evaluated.take(np.array([position])))
    inputs = tuple((format_name(each.column), exact(each.value), each.remark) for each in worked.inputs)
    name = f"row {format_name(evidence.evaluated.labels[position])} of the {evidence.evaluated_name}"
    return RowByHand(name, inputs, worked, tuple(outcome_steps(evidence.view, worked)))


def _annex(
    evidence: Evidence, options: PageOptions, equations: Formulas, quality: ClassPerformance | ValuePerformance | None
) -> tuple[AnnexPoint, ...]:
    """Return the headings of Annex IV, filled with what the sections of the report say."""
    named = [f"{figure.name} {figure.value}" for figure in ([] if quality is None else quality.figures)]
    rows, columns = count(len(evidence.training)), len(evidence.view.raw_names)
    purpose = f"intended purpose: {options.purpose}" if options.purpose else ""
    facts = {
        1: [
            *([Fact(purpose, "purpose")] if purpose else []),
            Fact(f"{_task(evidence)}, by an equation of {equations.size}", "equation"),
            Fact(f"software: ecsel {__version__}"),
            *(Fact(f"{name}: {value}") for name, value in options.details.items()),
        ],
        2: [
            Fact("the equation is the whole model, with every number in it", "equation"),
            Fact(f"training rows: {rows}, with {columns} columns", "data"),
            Fact(f"judged on {quality_rows(quality, evidence)}: {', '.join(named)}", "quality"),
        ],
        3: [
            Fact("what the model reads, and what it does with missing and unusual values", "equation"),
            Fact("what limits it", "limits"),
            *([Fact("figures by group", "fairness")] if options.group is not None else []),
        ],
        4: [Fact(f"figures: {', '.join(named)}", "quality")],
    }
    open_too = {
        1: [] if purpose else ["the intended purpose"],
        3: [] if options.group is not None else ["accuracy for the groups of persons on whom the system is used"],
    }
    own = {} if options.annex_iv is True or options.annex_iv is False else options.annex_iv
    return annex_points(facts, own, open_too)


def quality_rows(quality: ClassPerformance | ValuePerformance | None, evidence: Evidence) -> str:
    """Return which rows the headline figures are of."""
    return quality.figures_of if isinstance(quality, ClassPerformance) else evidence.evaluated_name


def _task(evidence: Evidence) -> str:
    view = evidence.view
    if not view.has_classes:
        return f"This {'law' if view.encoder is None else 'model'} predicts {format_name(evidence.target)}"
    names = [format_name(label) for label in view.classes]
    listed = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) <= 3 else f"{len(names)} classes"
    return f"This model predicts {format_name(evidence.target)} ({listed})"


def _card(evidence: Evidence, equations: Formulas, evaluated_on: str) -> tuple[tuple[str, str], ...]:
    view, model = evidence.view, evidence.view.estimator
    pieces = "a sum of simple pieces of raw columns" if view.encoder is not None and view.encoder.is_raw else ""
    kind = pieces or "signomial law"
    if view.has_classes:
        kind = f"{pieces or 'signomial equation'}, {view.link} link"
    lines = [
        ("Model", f"{type(model).__name__} ({kind}), written by ecsel {__version__}"),
        ("Predicts", format_name(evidence.target)),
        ("Size", equations.size),
        ("Columns", f"{len(evidence.used)} in the equation, of {len(view.raw_names)} given"),
        ("Fitted on", f"{count(len(evidence.training))} rows"),
        ("Judged on", evaluated_on),
    ]
    if view.has_classes:
        lines.insert(2, ("Classes", ", ".join(format_name(label) for label in view.classes)))
        if model.l1_ is not None:
            lines.append(("Strength of the penalty", f"{model.l1_:.4g}"))
        if equations.decision is not None:
            lines.append(("Decision", equations.decision))
    return tuple(lines)


def _island(
    evidence: Evidence,
    described: list[dict[str, Any]],
    rows: dict[str, Any],
    start: int,
    method: str,
    classes: ClassPerformance | None,
) -> dict[str, Any]:
    """Return the data of the scripts, as plain JSON values."""
    view = evidence.view
    panel = None if classes is None else classes.panel
    truth = evidence.training.truth
    return {
        "classes": [format_name(label) for label in view.classes] if view.has_classes else [],
        "sigmoid": view.link.has_reference,
        "threshold": view.threshold,
        "target": format_name(evidence.target),
        "goal": None if view.has_classes else float(f"{np.median(truth):.4g}"),
        "reach": None if view.has_classes else float(np.ptp(truth)) or 1.0,
        "method": method,
        "reference": evidence.baseline.description,
        "controls": described,
        "sample": rows,
        "start": start,
        "thresholds": None
        if panel is None
        else {
            "values": panel.thresholds.values,
            "own": panel.thresholds.own,
            "hits": panel.thresholds.true_positive,
            "alarms": panel.thresholds.false_positive,
            "positives": panel.thresholds.positives,
            "negatives": panel.thresholds.negatives,
        },
    }


def policy(style: str, source: str) -> str:
    """Return the Content-Security-Policy of a page with one style sheet and one script."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(source)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
