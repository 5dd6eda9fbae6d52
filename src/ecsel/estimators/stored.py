"""What a model file says of a fit beside its equations, read with the checks that nothing in it breaks the model later.

A model file has one source of truth, its `equations`, with which the model predicts. The record of a law repeats it,
term by term, to say how well each number is known; a record that speaks of another law is refused. Equations in records
are texts as they are printed, without sums to expand, so that the time to read them is bounded by their length.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ecsel.discovery.fitted import FittedLaw
from ecsel.discovery.grouped_law import GroupNames
from ecsel.discovery.noise import CONSTANT, LOGNORMAL, PER_ROW, RELATIVE
from ecsel.estimators.bounds import bound_lines, column_lines
from ecsel.estimators.errors import NumberError, StandardErrors
from ecsel.estimators.guarantees import guarantee_lines
from ecsel.estimators.options import check_flag, check_integer
from ecsel.estimators.path import Candidate, Path
from ecsel.estimators.targets import UNNAMED_TARGET
from ecsel.files import ModelFileError
from ecsel.files.node import Node
from ecsel.fitting import Status
from ecsel.quality import Quality
from ecsel.signomial.parse import parse_signomial

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.signomial import Signomial

Report = TypeVar("Report")

MEASURES = ("noise_variance", "degrees_of_freedom", "code_length", "mse", "validation_mse")
"""Numbers of a law that may be unknown."""
LATER_MEASURES = ("plain_mse",)
"""Those that files of version 0.1 do not have."""


def read_equation(node: Node) -> Signomial:
    """Read an equation from its printed text."""
    try:
        return parse_signomial(node.text(), max_products=0)
    except ModelFileError:
        raise
    except (ValueError, OverflowError) as error:
        raise ModelFileError(node.path, f"no printed equation: {error}") from None


def read_report(node: Node, kind: type[Report]) -> Report:
    """Read a report of a fit: a data class of whole numbers, numbers, texts, lists of numbers and a status."""
    readers: dict[str, Callable[[Node], Any]] = {
        "int": Node.whole,
        "float": Node.number,
        "str": Node.text,
        "tuple[float, ...]": lambda each: each.each(Node.number),
        "Status": lambda each: Status[each.choice(Status.__members__)],
    }
    wanted = fields(kind)  # type: ignore[arg-type]
    given = zip(wanted, node.fields(*(each.metadata.get("stored", each.name) for each in wanted)), strict=True)
    return kind(**{each.name: readers[str(each.type)](value) for each, value in given})


def read_path(node: Node, names: Sequence[str], n_scores: int) -> Path:
    """Read the candidates of a selection, each with so many equations in the named features."""
    return Path(_read_candidate(each, frozenset(names), n_scores) for each in node.items())


def _read_candidate(node: Node, names: frozenset[str], n_scores: int) -> Candidate:
    equations = node.get("equations").each(read_equation)
    if len(equations) != n_scores:
        node.get("equations").refuse(f"a list of {n_scores} equations")
    _check_names(node.get("equations"), equations, names)
    return Candidate(
        node.get("n_terms").whole(),
        node.get("l1").optional(Node.number),
        node.get("size").whole(),
        _or_nan(node.get("loss")),
        _or_nan(node.get("loss_se")),
        equations,
        node.get("n_rows").whole() if "n_rows" in node.value else 0,
        _or_nan(node.get("smoothed_loss")) if "smoothed_loss" in node.value else np.nan,
    )


def read_positions(node: Node, n: int) -> tuple[int, ...]:
    """Read positions in a list of n."""
    found = node.each(Node.whole)
    if any(not 0 <= i < n for i in found):
        node.refuse(f"a list of positions below {n}")
    return found


def read_quality(node: Node, n_classes: int) -> Quality:
    """Read the quality of a classifier of so many classes."""
    quality = Quality.from_dict(node.record())
    if not 0 <= quality.minority < n_classes or np.shape(quality.confusion) != (n_classes, n_classes):
        raise ModelFileError(node.path, f"not the quality of a classifier of {n_classes} classes")
    if (quality.auc_low is None) != (quality.auc_high is None):
        raise ModelFileError(node.path, "an interval of the AUC with one end")
    return quality


def read_errors(node: Node) -> StandardErrors:
    """Read standard errors."""
    numbers, converged, n_rows = node.fields("numbers", "converged", "n_rows")
    return StandardErrors(numbers.each(_read_number), converged.flag(), n_rows.whole())


def _read_number(node: Node) -> NumberError:
    old = {"piece": None} | node.value if isinstance(node.value, dict) else node.value
    label, term, parameter, feature, relative_to, estimate, error, piece = Node(old, node.path).fields(
        "label", "term", "parameter", "feature", "relative_to", "estimate", "standard_error", "piece"
    )
    return NumberError(
        label.label(),
        term.whole(),
        parameter.text(),
        feature.optional(Node.text),
        relative_to.optional(Node.text),
        estimate.number(),
        error.optional(Node.number),
        piece.optional(Node.text),
    )


def read_law(node: Node, names: Sequence[str], equation: Signomial | None = None) -> FittedLaw:
    """Read the record of a law in the named features, which must be that of the equation if there is one."""
    terms, free = node.get("terms"), node.get("free")
    read = [read_equation(each) for each in terms.items()]
    if any(len(each.terms) != 1 for each in read):
        terms.refuse("a list of single terms")
    known = read_equation(node.get("known"))
    _check_names(node, [*read, known], frozenset(names))
    if len(node.get("rounded").each(Node.flag)) != len(read):
        node.get("rounded").refuse(f"a list of {len(read)} truth values")
    for each in free.items():
        k, name = _pair(each)
        if not 0 <= k.whole() < len(read) or name.text() not in read[k.whole()].terms[0].exponents:
            each.refuse("a term and a feature of it")
    inner = node.get("inner").items() if "inner" in node.value else []
    for each in inner:
        _check_inner(each, read)
    _check_square(node.get("covariance"), len(read) + len(free.items()) + len(inner))
    _check_noise(node)
    _check_constants(node)
    for measure in (*MEASURES, *(each for each in LATER_MEASURES if each in node.value)):
        node.get(measure).optional(Node.number)
    if "estimates" in node.value and len(node.get("estimates").each(Node.number)) not in {0, len(read)}:
        node.get("estimates").refuse(f"a list of {len(read)} numbers")
    _check_estimates(node, read)
    law = FittedLaw.from_plain(node.value)
    if equation is not None and law.equation != equation:
        raise ModelFileError(node.path, "the record speaks of another law than the equation that predicts")
    return law


def read_ranges(report: Node, names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Read the ranges of the columns; files of earlier versions do not tell."""
    if "ranges" not in report.value:
        return {}
    found = {}
    for name, ends in report.get("ranges").members():
        low, high = (each.number() for each in _pair(ends))
        if name not in names or not low <= high:
            ends.refuse("the smallest and the largest number of a column")
        found[name] = low, high
    return found


def read_groups(report: Node) -> GroupNames | None:
    """Read the groups of a law, None where it has none."""
    if "groups" not in report.value:
        return None
    column, labels = report.get("groups").fields("column", "labels")
    found = labels.each(Node.label)
    if len(set(found)) != len(found) or not found:
        labels.refuse("a list of different labels")
    return GroupNames(column.text(), tuple(found))


def read_misfit(report: Node) -> tuple[float, str | None]:
    """Read the p-value of the residual tests and the column they object to; files of version 0.1 tell of none."""
    if "misfit" not in report.value:
        return 1.0, None
    p_value, column = _pair(report.get("misfit"))
    return p_value.number(), column.optional(Node.text)


def _check_names(node: Node, equations: Sequence[Signomial], names: frozenset[str]) -> None:
    if strangers := {name for each in equations for name in each.names} - names:
        raise ModelFileError(node.path, f"there is no feature {min(strangers)[:60]!r}")


def _pair(node: Node) -> list[Node]:
    items = node.items()
    if len(items) != 2:
        node.refuse("a list of two")
    return items


def _check_estimates(node: Node, read: Sequence[Signomial]) -> None:
    for each in node.get("exponent_estimates").items() if "exponent_estimates" in node.value else []:
        if len(each.items()) != 4:
            each.refuse("a term, a feature of it, a number and its standard error")
        k, name, value, error = each.items()
        value.number()
        error.optional(Node.number)
        if not 0 <= k.whole() < len(read) or name.text() not in read[k.whole()].terms[0].exponents:
            each.refuse("a fraction of a term")


def _check_inner(node: Node, read: Sequence[Signomial]) -> None:
    if len(node.items()) != 3:
        node.refuse("a term, a factor of it and what it is")
    k, i, what = node.items()
    what.choice(("exponent", "shift", "rate"))
    if not 0 <= k.whole() < len(read) or not 0 <= i.whole() < len(read[k.whole()].terms[0].factors):
        node.refuse("a factor of a term")


def _check_square(node: Node, size: int) -> None:
    rows = [row.each(Node.number) for row in node.items()]
    if [len(row) for row in rows] != [size] * size:
        node.refuse(f"a matrix of {size} rows and columns")


def _check_noise(node: Node) -> None:
    if "noise" not in node.value:  # a file from when noise was always taken to be constant
        node.get("noise_variance").number()
        return
    noise = node.get("noise")
    if len(noise.items()) != 3:
        noise.refuse("a kind, a number and a truth value")
    kind, sigma, estimated = noise.items()
    kind.choice((CONSTANT, RELATIVE, LOGNORMAL, PER_ROW))
    sigma.optional(Node.number)
    estimated.flag()


def _check_constants(node: Node) -> None:
    constants = node.get("constants").items() if "constants" in node.value else []
    for each in constants:
        if len(each.items()) != 3:
            each.refuse("a name, a number and a standard error")
        name, value, error = each.items()
        name.text()
        value.number()
        error.optional(Node.number)
    if "constant_covariance" in node.value:
        _check_square(node.get("constant_covariance"), len(constants))


def _or_nan(node: Node) -> float:
    value = node.optional(Node.number)
    return np.nan if value is None else value


def check_promises(model: ECSELClassifier) -> None:
    """Refuse options that the summary could not tell: promises, bounds and limits of another form."""
    _check_printable(
        lambda: [
            check_flag("calibrate", model.calibrate),
            None if model.max_features is None else check_integer("max_features", model.max_features, least=1),
            guarantee_lines(model.monotone, list(model.equations_.values()), model.encoder_, model.classes_.tolist()),
            bound_lines(model.exponent_bounds, list(model.equations_.values()), model.path_encoder_),
            column_lines(model.max_features, list(model.equations_.values()), model.encoder_),
        ]
    )


def check_bounds(option: Any, equation: Signomial, encoder: Any) -> None:
    """Refuse bounds of exponents that the summary of a prediction could not tell."""
    _check_printable(lambda: bound_lines(option, (equation,), encoder))


def _check_printable(print_it: Any) -> None:
    try:
        print_it()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError("params", f"an option that no fit would take: {error}") from error


def as_node(record: Mapping[str, Any] | Sequence[Any], field: str) -> Node:
    """Return a record of a document with the name of its field."""
    return Node(list(record) if isinstance(record, tuple) else record, field)


def read_target_name(report: Node) -> str:
    """Read what the target of a regression is called; files of earlier versions do not tell."""
    return report.get("target").text() if "target" in report.value else UNNAMED_TARGET
