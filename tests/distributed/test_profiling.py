"""The kept rows teach an encoder what all rows teach it."""

from functools import reduce
from operator import add

import numpy as np
import pytest

from ecsel.distributed import profiling
from ecsel.distributed.sources import TableSource
from ecsel.tables import TableEncoder
from ecsel.tables import scaling as scaling_module


def look(source, stride, cut):
    batches = list(source.batches())
    if not cut:
        return reduce(lambda profile, batch: profile.look(batch, stride), batches, profiling.Profile())
    return reduce(add, [profiling.Profile().look(batch, stride) for batch in batches])


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("rows", [200_000, 300])
def test_the_encoder_of_kept_rows(monkeypatch, frame, rows, cut):
    from ecsel.distributed import sources

    for module in (profiling, scaling_module):
        monkeypatch.setattr(module, "QUANTILE_ROWS", rows)
    monkeypatch.setattr(sources, "CHUNK_ROWS", 900)
    X, labels = frame.drop(columns="ill"), frame["ill"].to_numpy()
    source = TableSource(X, labels, None)
    profile = look(source, profiling.Profile.stride(len(X)), cut)
    found = TableEncoder.fit(profile.table, sample_weight=profile.row_weights)
    whole = TableEncoder.fit(X)
    assert found.feature_names == whole.feature_names
    for own, known in zip(found.columns, whole.columns, strict=True):
        assert (own.name, own.kind, own.has_missing) == (known.name, known.kind, known.has_missing)
        if own.kind == "numeric":
            assert (own.low, own.high) == (known.low, known.high)
        else:
            assert own.levels == known.levels
    scales = [[feature.scale for feature in encoder.features] for encoder in (found, whole)]
    np.testing.assert_allclose(*scales, rtol=1e-12 if rows > len(X) else 0.3)
    assert dict(profile.totals) == {label: (labels == label).sum() for label in ("yes", "no")}
    if rows < len(X):
        assert len(profile.row_weights) < 500


def test_arrays_are_profiled_too(frame):
    cells = frame[["size", "age"]].to_numpy()
    weights = np.where(frame["age"] > 40, 0.0, 2.0)
    (batch,) = TableSource(cells, np.zeros(len(cells)), weights).batches()
    profile = profiling.Profile().look(batch, 100)
    assert profile.table.shape == (len(profile.row_weights), 2)
    assert profile.totals == ((0.0, weights.sum()),)
    encoder = TableEncoder.fit(profile.table, sample_weight=profile.row_weights)
    assert encoder.columns[1].high == 40
