"""The groups of a law with shared exponents: their labels in tables, the fit, and the law in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from ecsel.discovery import option_values
from ecsel.discovery.fitted import number_text
from ecsel.discovery.grouped_law import GroupNames, by_groups, equation_of_group
from ecsel.discovery.options import Options
from ecsel.discovery.report import Verdict, error_text, errors_text, noise_text
from ecsel.signomial import Signomial, Term
from ecsel.signomial.text import print_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Floats
    from ecsel.discovery.fitted import FittedLaw
    from ecsel.discovery.methods import Outcome, Table

UNNAMED = "group"
MAX_NAMED = 12
"""Groups that an error names."""


def split_groups(option: Any, X: Any) -> tuple[Any, Any, str]:
    """Return the labels of the rows, the other columns, and what the groups are called.

    Parameters
    ----------
    option
        The name of a column, its position in an array, or the labels themselves.
    X
        A data frame or an array.

    Examples
    --------
    >>> labels, rest, name = split_groups(1, np.array([[1.0, 7.0], [2.0, 8.0]]))
    >>> labels.tolist(), rest.tolist(), name
    ([7, 8], [[1.0], [2.0]], 'x1')
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    is_frame = isinstance(frame, nw.DataFrame)
    if isinstance(option, str):
        if not is_frame or option not in frame.columns:
            raise ValueError(
                f"groups={option!r} names no column of X; give a column of a data frame, or an array of labels"
            )
        return frame[option].to_numpy(), frame.drop(option).to_native(), option
    if isinstance(option, (int, np.integer)) and not isinstance(option, bool):
        values = np.asarray(X) if not is_frame else None
        if values is None or values.ndim != 2 or not 0 <= option < values.shape[1]:
            raise ValueError(f"groups={option} is no position of a column of an array; name a column of a data frame")
        labels = values[:, option]
        if labels.dtype.kind == "f" and (labels == np.round(labels)).all():
            labels = labels.astype(np.int64)
        return labels, np.delete(values, option, axis=1), f"x{option}"
    return np.asarray(option), X, UNNAMED


def read_labels(labels: Any, n_rows: int) -> np.ndarray:
    """Return labels as an array of Python's objects; missing ones are refused."""
    found = np.asarray(labels, dtype=object).ravel()
    if len(found) != n_rows:
        raise ValueError(f"groups has {len(found)} labels for {n_rows} rows")
    if missing := sum(each is None or (isinstance(each, float) and np.isnan(each)) for each in found.tolist()):
        raise ValueError(f"groups has {missing} missing labels; give these rows a label, or leave them out")
    return np.array([each.item() if isinstance(each, np.generic) else each for each in found.tolist()], dtype=object)


def group_names(labels: np.ndarray, column: str) -> GroupNames:
    """Return the groups in the order of their labels."""
    return GroupNames(column, tuple(sorted(set(labels.tolist()), key=lambda label: (str(type(label)), label))))


def positions(labels: np.ndarray, names: GroupNames) -> np.ndarray:
    """Return the position of each row's group; groups that no training row had are refused.

    >>> positions(np.array(["a", "c"], dtype=object), GroupNames("m", ("a", "b")))
    Traceback (most recent call last):
    ValueError: 'c' in 1 of 2 rows is no group of the training rows, whose prefactor is not known; they have 'a', 'b'
    """
    place = {label: i for i, label in enumerate(names.labels)}
    unknown = [label for label in labels.tolist() if label not in place]
    if unknown:
        known = ", ".join(map(repr, names.labels[:MAX_NAMED])) + (", …" if len(names.labels) > MAX_NAMED else "")
        named = ", ".join(map(repr, list(dict.fromkeys(unknown))[:MAX_NAMED]))
        raise ValueError(
            f"{named} in {len(unknown)} of {len(labels)} rows is no group of the training rows, whose prefactor is not "
            f"known; they have {known}"
        )
    return np.array([place[label] for label in labels.tolist()], dtype=np.intp)


def indicator_columns(names: GroupNames, groups: np.ndarray) -> dict[str, Floats]:
    """Return the indicators of the groups by their names."""
    return {name: (groups == g).astype(float) for g, name in enumerate(names.indicators)}


def check_group_options(model: Any) -> None:
    """Refuse options that have no meaning together with groups."""
    plain = {
        "form": None, "fixed_terms": None, "units": None, "x_error": None, "solver": "search", "positive": False,
    }  # fmt: skip
    for name, default in plain.items():
        if getattr(model, name) != default:
            raise ValueError(f"groups and {name} exclude each other: leave {name} out")
    if model.loss == "robust":
        raise ValueError("groups and loss='robust' exclude each other: no rows are left out of a law of groups")


def search_groups(model: Any, table: Table, names: GroupNames) -> Outcome:
    """Return the law of groups under the options of an estimator."""
    exponents, real = option_values.allowed_exponents(model.allowed_exponents)
    lower, upper = option_values.exponent_bounds(model.exponent_bounds, table.names[:-1])
    options = Options(
        n_terms=option_values.number_of_terms(model.n_terms, table.n_rows),
        max_terms=option_values.largest_number_of_terms(model.max_terms),
        exponents=exponents, real=real, lower=lower, upper=upper, noise_variance=table.noise.variance,
    )  # fmt: skip
    return by_groups(table, names, options)


def group_equations(law: FittedLaw, names: GroupNames) -> dict[Any, Signomial]:
    """Return the equation of each group."""
    pairs = zip(names.labels, names.indicators, strict=True)
    return {label: equation_of_group(law.terms, indicator) for label, indicator in pairs}


def describe_groups(law: FittedLaw, names: GroupNames, verdict: Verdict, target: str) -> str:
    """Return a law of groups in words: the shared part, and the prefactors of each group."""
    n = len(names.labels)
    shared = [Signomial([_shared(law.terms[k * n], names)]) for k in range(len(law.terms) // n)]
    tags = ["a"] if len(shared) == 1 else [f"a{k + 1}" for k in range(len(shared))]
    parts = [tag if str(each) == "1" else f"{tag}·{each}" for tag, each in zip(tags, shared, strict=True)]
    lines = [f"{print_name(target)} = {' + '.join(parts)}, with numbers of its own for each {names.column}:"]
    prefactors = law.constants[: len(law.terms)]
    for g, label in enumerate(names.labels):
        own = [prefactors[k * n + g] for k in range(len(shared))]
        numbers = ", ".join(
            f"{tag} = {number_text(c.value)} ± {error_text(c.standard_error)}" for tag, c in zip(tags, own, strict=True)
        )
        lines.append(f"  {label}: {numbers}")
    lines += [
        f"The exponent {c.name} is {c.value:.6g} ± {error_text(c.standard_error)}."
        for c in law.constants[len(law.terms) :]
    ]
    return "\n".join([*lines, *verdict.sentences(), noise_text(law), errors_text(law)])


def _shared(term: Term, names: GroupNames) -> Term:
    return Term.from_factors(1.0, (f for f in term.factors if f.name not in names.indicators))


def as_record(names: GroupNames) -> dict[str, Any]:
    """Return the groups as plain JSON values."""
    if other := [label for label in names.labels if not isinstance(label, (str, int, float, bool))]:
        raise ValueError(f"a model file holds groups of text, numbers and truth values, not {other[0]!r}: rename them")
    return {"column": names.column, "labels": list(names.labels)}


def names_of(columns: Sequence[str], column: str) -> tuple[str, ...]:
    """Return the names of columns without that of the groups."""
    return tuple(name for name in columns if name != column)
