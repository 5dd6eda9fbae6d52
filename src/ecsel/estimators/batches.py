"""Fitting a classifier to rows that come in batches: a large table in memory, a Parquet file, a Dask collection.

A first pass (in memory: the table itself) tells the columns and the classes; a sample of the rows decides what folds
decide; a second pass encodes and packs all rows, and the solver then asks for sums over them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import validate_data

from ecsel.distributed.packing import Packer
from ecsel.distributed.profiling import Profile
from ecsel.distributed.sources import TableSource, pick_rows
from ecsel.estimators.folds import JUDGED_ROWS, is_count, stratified_sample
from ecsel.estimators.training import PackedRows, encoder_options
from ecsel.estimators.training_rows import TrainingRows
from ecsel.fitting.fit import LARGE_FROM
from ecsel.fitting.rows.chunks import Layout
from ecsel.fitting.rows.merging import PROBE_ROWS, many_repetitions, merge_equal_rows
from ecsel.fitting.solvers.adam import Adam
from ecsel.tables import TableEncoder
from ecsel.tables.cautions import find_cautions, warn_cautions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier
    from ecsel.estimators.readable import BatchSums
    from ecsel.estimators.settings import Settings
    from ecsel.fitting.rows.merging import Rows
    from ecsel.search.large import GlmSums

SINGLE_PRECISION_TOLERANCE = 1e-8
"""Tighter tolerances need rows in double precision."""
LARGE_SEARCH = 2 * JUDGED_ROWS
"""Tables of more rows are searched on a sample, and their coefficients fitted batch by batch."""
FLOAT32_FROM = 40_000
"""Tables of more numbers than this are held as float32 logs; sums are kept in float64."""


def precision(model: ECSELClassifier, n_numbers: int) -> type[np.floating]:
    """Return the precision of the logs: single for many numbers, unless the tolerance is tighter than it allows.

    Adam's epochs are compiled for double precision alone.
    """
    trained = isinstance(model.solver, Adam) or model.solver == "adam"
    single = n_numbers > FLOAT32_FROM and model.tol >= SINGLE_PRECISION_TOLERANCE and not trained
    return np.float32 if single else np.float64


def is_streamed(X: Any) -> bool:
    """Tell a path, a `ParquetTable` or a Dask collection from tables in memory, without importing their libraries."""
    if isinstance(X, (str, os.PathLike)):
        return True
    kind = type(X)
    return kind.__name__ == "ParquetTable" or kind.__module__.partition(".")[0] in {"dask", "dask_expr"}


@dataclass(frozen=True)
class Packing:
    """Rows that wait to be packed: their source, the sample that stands for them, classes and the weights of these."""

    model: ECSELClassifier
    source: Any
    sample: tuple[Any, NDArray[Any], NDArray[np.float64]]
    classes: NDArray[Any]
    totals: NDArray[np.float64]
    n_threads: int

    def training_rows(self, encoder: TableEncoder) -> TrainingRows:
        """Return the sample as canonical rows of a search, which weigh as much as the table."""
        table, labels, weights = self.sample
        codes = np.searchsorted(self.classes, labels)
        values = encoder.feature_rows(table, warn=False)
        return TrainingRows.canonical(
            self.model.cv, values, codes, weights * (self.totals.sum() / weights.sum()), labels
        )

    def sum_batches(self, function: BatchSums) -> GlmSums:
        """Return the sum of a function over all batches of the source, in their order."""
        found: GlmSums = self.source.sum_batches(function)
        return found

    def sampled_rows(self, encoder: TableEncoder, class_weights: NDArray[np.float64]) -> Rows:
        """Return the sample as canonical rows, which weigh as much as the table."""
        table, labels, weights = self.sample
        codes = np.searchsorted(self.classes, labels)
        scaled = weights * (class_weights[codes] * self.totals.sum() / weights.sum())
        logs = encoder.log_features(table, precision(self.model, len(codes) * len(encoder.features)), warn=False)
        return merge_equal_rows(logs, codes, scaled)

    def no_rows(self, encoder: TableEncoder) -> Rows:
        """Return what stands for the sample where nobody asks for it."""
        return np.empty((len(encoder.features), 0)), np.empty(0, np.intp), np.empty(0)

    def pack(self, encoder: TableEncoder, class_weights: NDArray[np.float64]) -> tuple[TableEncoder, PackedRows]:
        """Encode and pack all rows; return the encoder with the log means of all rows, which are known then."""
        table, *_ = self.sample
        even = bool((class_weights == class_weights[0]).all())
        dtype = precision(self.model, self.source.n_rows * len(encoder.features))
        logs = encoder.log_features(table, dtype, warn=False)
        weighted = self.source.weighted or not even
        layout = Layout.learn(logs, len(self.classes), weighted=weighted)
        packer = Packer(encoder, layout, self.classes, None if even else class_weights)
        blocks = self.source.pack(packer, n_threads=self.n_threads)
        shares = np.maximum(blocks.tally.classes, 0.5 * blocks.tally.classes.sum() / blocks.n_rows)
        if even:
            means = zip(encoder.features, blocks.coordinates.centre.tolist(), strict=True)
            encoder = replace(encoder, features=tuple(replace(feature, baseline=mean) for feature, mean in means))
        return encoder, PackedRows(blocks, blocks.coordinates, shares / shares.sum())


def sample_of_table(
    model: ECSELClassifier,
    chosen: Settings,
    X: Any,
    encoder: TableEncoder,
    labelled: tuple[NDArray[Any], NDArray[np.float64] | None],
    codes: NDArray[np.integer],
    seed: int,
) -> tuple[TrainingRows, Callable[[BatchSums], GlmSums]] | None:
    """Return the rows that a search of a large table in memory looks at, and what adds up over all of its rows.

    None where the table is small enough to be encoded whole, or where splits name its rows.
    """
    labels, weights = labelled
    if len(labels) <= LARGE_SEARCH or not is_count(model.cv):
        return None
    kept, factors = stratified_sample(codes, weights, JUDGED_ROWS, seed)
    counts = factors if weights is None else weights[kept] * factors
    values = encoder.feature_rows(pick_rows(X, kept), warn=False)
    rows = TrainingRows.canonical(model.cv, values, codes[kept].astype(np.intp), counts, labels[kept])
    source = TableSource(X, labels, weights)
    return rows, lambda function: source.sum_batches(function, n_threads=chosen.n_threads)


def open_streamed(
    model: ECSELClassifier, chosen: Settings, X: Any, y: Any, sample_weight: Any
) -> tuple[TableEncoder, Packing]:
    """Look once at rows that are not in memory: their encoder, and what waits to be packed."""
    from ecsel.distributed import open_table  # noqa: PLC0415 - what it opens may need libraries that are optional

    if not is_count(model.cv):
        raise ValueError("cv must be a number of folds where rows are not in memory: a sample of them is folded.")
    source = open_table(X, y, sample_weight)
    profile = source.profile()
    table, weights = profile.table, profile.row_weights
    encoder = TableEncoder.fit(table, **encoder_options(model, chosen), sample_weight=weights)
    validate_data(model, table, skip_check_array=True)
    text = f"Quartiles and counts of missing values are those of {len(weights)} of {source.n_rows} rows."
    encoder = encoder if len(weights) == source.n_rows else replace(encoder, notes=(*encoder.notes, text))
    totals = dict(profile.totals)
    classes = np.unique(np.array(list(totals)))
    per_class = np.array([totals[label] for label in classes.tolist()])
    if len(classes) < 2:
        raise ValueError(
            f"ECSELClassifier needs samples of at least two classes, but the data contains only one class: "
            f"{classes.tolist()[0]!r} ({source.n_rows} rows)."
        )
    if (per_class <= 0).any():
        empty = classes.tolist()[int(np.argmin(per_class))]
        raise ValueError(f"All rows of class {empty!r} have zero sample_weight: remove the class or weigh its rows.")
    codes = np.searchsorted(classes, profile.row_labels).astype(np.float64)
    warn_cautions(find_cautions(encoder, table, codes, y if isinstance(y, str) else "", classes=True), stacklevel=5)
    sample = (table, profile.row_labels, weights)
    return encoder, Packing(model, source, sample, classes, per_class, chosen.n_threads)


def packing_of(
    model: ECSELClassifier,
    chosen: Settings,
    X: Any,
    encoder: TableEncoder,
    labelled: tuple[NDArray[Any], NDArray[np.float64] | None],
    classes: NDArray[Any],
    totals: NDArray[np.float64],
) -> Packing | None:
    """Return what waits to be packed of a large table in memory, None where the table is better fitted as arrays.

    `labelled` are the labels and weights (None: ones) of the rows, `totals` the weights of the classes. Arrays are
    better for few rows, for rows of which many are equal (they are merged), for splits that name rows, and for trainers
    that draw batches of their own.
    """
    labels, weights = labelled
    if len(labels) <= LARGE_FROM or isinstance(chosen.solver, Adam) or not is_count(model.cv):
        return None
    if not isinstance(X, np.ndarray) and not isinstance(nw.from_native(X, pass_through=True), nw.DataFrame):
        return None
    first = slice(0, PROBE_ROWS)
    codes = np.searchsorted(classes, labels[first])
    if many_repetitions(encoder.log_features(pick_rows(X, first), np.float32, warn=False), codes):
        return None
    rows = np.arange(0, len(labels), Profile.stride(len(labels)))
    row_weights = np.ones(len(rows)) if weights is None else weights[rows]
    sample = (pick_rows(X, rows), labels[rows], row_weights)
    source = TableSource(X, labels, weights)
    return Packing(model, source, sample, classes, totals, chosen.n_threads)
