"""Columns as they are, of a regression or of bare equations: every column is a feature.

As in the model, a row is refused where a column is missing or infinite, or where a factor of it is not defined: zero to
a negative power, a negative number to a power that refuses it, the logarithm of what is not positive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecsel.export.accepted import LARGEST
from ecsel.export.expr import Compare, Condition, Const, If, Input, IsMissing, Not, all_of
from ecsel.export.factors import domain, harmless_value, read_terms
from ecsel.export.program import InputColumn
from ecsel.export.reading import FeatureValue, Reading, Sheet, is_one

if TYPE_CHECKING:
    from ecsel.explain.view import ModelView


def read_plain(view: ModelView, sheet: Sheet) -> Reading:
    """Write down how the columns that the equations use are read."""
    columns = np.flatnonzero(view.terms.uses.any(axis=0)).tolist()
    inputs: list[InputColumn] = []
    conditions: list[Condition] = []
    features: dict[int, FeatureValue] = {}
    for i, j in enumerate(columns):
        name = view.feature_names[j]
        factors = [factor for placed in view.terms.factors for feature, factor in placed if feature == j]
        finite = [Compare(">=", Input(i), Const(-LARGEST)), Compare("<=", Input(i), Const(LARGEST))]
        defined = [Not(IsMissing(i)), *finite, *domain(factors, FeatureValue(Input(i), -LARGEST, LARGEST))]
        ok = sheet.let(f"ok{i}", If(all_of(defined), Const(1.0), Const(0.0)), "value", f"{name} is usable")
        x = sheet.let(f"x{i}", If(is_one(ok), Input(i), Const(harmless_value(factors))), "value", name)
        features[j] = FeatureValue(x, -LARGEST, LARGEST)
        inputs.append(InputColumn(name, "number", None, (), refuses_missing=True))
        conditions.append(is_one(ok))
    terms = read_terms(view.terms, features, {j: i for i, j in enumerate(columns)}, sheet)
    return Reading(tuple(inputs), tuple(columns), tuple(conditions), terms, features)
