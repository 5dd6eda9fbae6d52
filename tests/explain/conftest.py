"""Models with random equations on real encoders: the fit is not what is tested here, so none is needed."""

import warnings
from itertools import combinations
from math import factorial

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from ecsel import ECSELClassifier, Signomial, Term
from ecsel.signomial import ScoreTerms
from ecsel.tables import TableEncoder

mpl.use("Agg")

CLASSES = {"sigmoid": ["no", "yes"], "softmax2": ["no", "yes"], "softmax3": ["a", "b", "c"]}


def _table(rng, n_rows):
    return pd.DataFrame(
        {
            "income": rng.lognormal(3, 0.5, n_rows),
            "balance": rng.normal(0, 2, n_rows),
            "gap": np.where(rng.random(n_rows) < 0.2, np.nan, rng.uniform(0, 5, n_rows)),
            "purpose": rng.choice(["car", "house", "trip"], n_rows),
            "children": rng.integers(0, 5, n_rows),
        },
        index=pd.RangeIndex(100, 100 + n_rows),
    )


def _random_signomial(rng, names, n_terms, intercept):
    terms = [
        Term(rng.choice([-1, 1]) * rng.uniform(0.3, 1.5), {n: rng.normal(0, 0.5) for n in names if rng.random() < 0.7})
        for _ in range(n_terms)
    ]
    return Signomial([*terms, Term(rng.normal())] if intercept else terms)


def _random_model(rng, table, kind="sigmoid", n_terms=2, intercept=True, **encoding):
    encoder = TableEncoder.fit(table, **encoding)
    names = encoder.feature_names
    scored = _scored(kind)
    return _model(table, encoder, kind, [_random_signomial(rng, names, n_terms, intercept) for _ in scored])


def _scored(kind):
    return CLASSES[kind][1:] if kind == "sigmoid" else CLASSES[kind]


def _model(table, encoder, kind, equations):
    labels, names = CLASSES[kind], encoder.feature_names
    model = ECSELClassifier(link="sigmoid" if kind == "sigmoid" else "softmax")
    model.encoder_ = encoder
    model.classes_ = np.array(labels)
    model.link_ = model.link
    model.threshold_ = 0.5 if len(labels) == 2 else None
    model.equations_ = dict(zip(_scored(kind), equations, strict=True))
    model._score_terms = ScoreTerms.from_signomials(list(model.equations_.values()), names)
    model.n_features_in_ = table.shape[1]
    model.feature_names_in_ = np.array(table.columns, dtype=object)
    return model


RAW_PIECES = (
    "log(income)",
    "balance",
    "balance**2",
    "1/(balance + 30)",
    "sqrt(children + 1)",
    "log(children + 2)*balance",
    "gap*log(income)",
    "[gap missing]",
    "[purpose = car]",
    "[purpose = house]*sqrt(income)",
    "income*[purpose = trip]/(children + 1)",
    "(balance - 1)*[balance > 0.5]",
    "[income above 20]",
    "[children below 2]*gap",
)


def _raw_model(rng, table, kind, n_pieces):
    encoder = TableEncoder.fit(table, scaling="raw")
    cuts = {"balance": [("step", 0.5)], "income": [("above", 20.0)], "children": [("below", 2.0)]}
    encoder = encoder.with_cuts(cuts)
    pieces = [Signomial.parse(f"1*{piece}") for piece in RAW_PIECES]
    pieces = [piece for piece in pieces if {*piece.names} <= {*encoder.feature_names}]  # a level may be too rare
    equations = []
    for _ in _scored(kind):
        chosen = rng.choice(len(pieces), n_pieces, replace=False)
        equation = Signomial([Term(rng.normal())])
        for k in chosen:
            equation = equation + rng.normal(0, 0.4) * pieces[k]
        equations.append(equation)
    return _model(table, encoder, kind, equations)


@pytest.fixture(scope="session")
def make_raw_model():
    """Return (model, table) of raw columns: logarithms, shifts, indicators, a hinge, negative and missing numbers."""

    def make(seed=0, kind="sigmoid", n_pieces=6, n_rows=40):
        rng = np.random.default_rng(seed)
        table = _table(rng, n_rows)
        return _raw_model(rng, table, kind, n_pieces), table

    return make


@pytest.fixture(scope="session")
def random_model():
    """Return a model with random equations on a given table."""
    return _random_model


@pytest.fixture(scope="session")
def make_model():
    """Return (model, table) for a seed, a kind of link, a number of terms, and whether there is a constant."""

    def make(seed=0, kind="sigmoid", n_terms=2, intercept=True, n_rows=40, two_sided=("balance",), **encoding):
        rng = np.random.default_rng(seed)
        table = _table(rng, n_rows)
        return _random_model(rng, table, kind, n_terms, intercept, two_sided=two_sided, **encoding), table

    return make


@pytest.fixture(scope="session")
def shap():
    """SHAP without just-in-time compilation, which would take longer than all tests together."""
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")  # what other libraries say while they are imported is not ours to mend
        import numba

        patch.setattr(numba.config, "DISABLE_JIT", True)  # for the import alone: others compile in the same process
        import shap

    return shap


def _enumerated(function, X, background):
    """Shapley values by their definition, over all coalitions of raw columns, levels and missing values included."""
    n_columns = X.shape[1]
    worth = {}
    for size in range(n_columns + 1):
        for coalition in combinations(range(n_columns), size):
            outputs = []
            for i in range(len(X)):
                mixed = background.copy()
                for j in coalition:
                    mixed.isetitem(j, [X.iloc[i, j]] * len(mixed))
                outputs.append(function(mixed).mean(axis=0))
            worth[frozenset(coalition)] = np.array(outputs)
    values = np.zeros((*worth[frozenset()].shape, n_columns))
    for coalition, value in worth.items():
        for j in set(range(n_columns)) - coalition:
            weight = factorial(len(coalition)) * factorial(n_columns - 1 - len(coalition)) / factorial(n_columns)
            values[:, :, j] += weight * (worth[coalition | {j}] - value)
    return values


@pytest.fixture(scope="session")
def enumerated():
    """The function that computes Shapley values from their definition."""
    return _enumerated
