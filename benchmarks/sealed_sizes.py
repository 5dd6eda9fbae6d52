"""How many numbers a person must read to work a model out by hand: one count for each kind of model.

| model | what counts |
|---|---|
| equation | coefficients, intercepts, exponents other than 1, logarithms, shifts, cuts; further columns of a product |
| logistic or linear regression | coefficients that are not 0, intercepts |
| tree, sum of trees, forest, boosted trees | cuts, and the values of the leaves: one a score |
| EBM | the values of all bins of all curves and pairs: one a score; the cuts between the bins of the curves |
| symbolic expression | powers, functions, and constants or columns, whichever are more |

A model of two classes has one score, one of more classes a score for each. Scales are folded into coefficients, and
what stands for a missing value is left out for every model. A column that has a coefficient of its own costs nothing
beside it; symbolic expressions repeat columns without coefficients, and these count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ecsel.signomial import Factor

_FUNCTION = re.compile(r"[A-Za-z_]\w*(?=\s*\()")
_NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:[eE][+-]?\d+)?")
_POWER = re.compile(rf"\*\*\s*\(?-?{_NUMBER.pattern}")
_COLUMN = re.compile(r"\b[xX]\d+\b")


def equation_size(equations: Iterable[Any], features: Iterable[Any]) -> int:
    """Return the numbers in equations of `ecsel`; `features` are those of the model's encoder."""
    cuts = {feature.name for feature in features if feature.cut is not None}

    def in_factor(factor: Factor) -> int:
        return (factor.exponent != 1) + factor.log + (factor.shift != 0) + (factor.name in cuts)

    return sum(
        1 + sum(map(in_factor, term.factors)) + max(len(term.factors) - 1, 0)
        for equation in equations
        for term in equation.terms
    )


def linear_size(coefficients: Any, intercepts: Any) -> int:
    """Return the coefficients that are not 0 and the intercepts."""
    return int(np.count_nonzero(coefficients)) + int(np.size(intercepts))


def trees_size(n_leaves: Iterable[int], n_values: int = 1) -> int:
    """Return cuts and leaf values of binary trees: a tree of L leaves has L − 1 cuts; a leaf has `n_values` values."""
    return sum(leaves - 1 + leaves * n_values for leaves in n_leaves)


def forest_size(forest: Any) -> int:
    """Return cuts and leaf values of a forest of scikit-learn, whose leaves hold a share for each score."""
    classes = getattr(forest, "n_classes_", 2)
    return trees_size((tree.tree_.n_leaves for tree in forest.estimators_), 1 if classes == 2 else classes)


def xgboost_size(model: Any) -> int:
    """Return cuts and leaf values of XGBoost, which has trees of their own for each of more than two classes."""
    return trees_size(tree.count("leaf=") for tree in model.get_booster().get_dump())


def lightgbm_size(model: Any) -> int:
    """Return cuts and leaf values of LightGBM, which has trees of their own for each of more than two classes."""
    return trees_size(tree["num_leaves"] for tree in model.booster_.dump_model()["tree_info"])


def catboost_size(model: Any) -> int:
    """Return cuts and leaf values of CatBoost: a tree of 2^d leaves has one cut a level, d in all."""
    leaves = np.asarray(model.get_tree_leaf_counts())
    return int(np.log2(leaves).round().sum()) + int(np.size(model.get_leaf_values()))


def figs_size(trees: Iterable[Any]) -> int:
    """Return cuts and leaf values of the trees of FIGS."""

    def leaves(node: Any) -> int:
        return 1 if node.left is None else leaves(node.left) + leaves(node.right)

    return trees_size(map(leaves, trees))


def ebm_size(model: Any) -> int:
    """Return the values of the bins of every term, without those of missing and unknown values, and the cuts."""
    values = 0
    for term, scores in zip(model.term_features_, model.term_scores_, strict=True):
        array = np.asarray(scores)
        bins, n_scores = array.shape[: len(term)], int(np.prod(array.shape[len(term) :], dtype=int))
        values += int(np.prod([n - 2 for n in bins])) * n_scores
    curves = [model.bins_[term[0]][0] for term in model.term_features_ if len(term) == 1]
    cuts = sum(len(bins) for bins in curves if not isinstance(bins, dict))
    return values + cuts + int(np.size(model.intercept_))


def expression_size(text: str) -> int:
    """Return powers, functions, and constants or columns, whichever are more, of an expression in x0, x1, ….

    >>> expression_size("2.5*log(x0) + x1**2 - 1")
    4
    >>> expression_size("(x0 + x5) + x0")
    3
    """
    powers = len(_POWER.findall(text))
    constants = len(_NUMBER.findall(text)) - powers
    return powers + len(_FUNCTION.findall(text)) + max(constants, len(_COLUMN.findall(text)))
