"""Labels become the positions of their classes, whatever kind of labels they are."""

import numpy as np
import pytest

from ecsel.distributed.packing import Packer
from ecsel.distributed.sources import Batch
from ecsel.fitting.rows.chunks import Layout
from ecsel.tables import TableEncoder


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 4, 5, 4], np.int64),
        np.array([-128, 127, 0, 5], np.int8),
        np.arange(-128, 128).astype(np.int8),
        np.array([7, 9, 9, 7], np.uint8),
        np.array(["b", "a", "c", "a"]),
        np.array([False, True, True, False]),
    ],
)
def test_codes_are_the_positions_of_the_classes(labels):
    classes = np.unique(labels)
    X = np.arange(1.0, 1 + len(labels))[:, None]
    encoder = TableEncoder.fit(X)
    layout = Layout.learn(encoder.log_features(X), len(classes), weighted=False)
    _, tally = Packer(encoder, layout, classes, None)(Batch(X, labels, None, 0))
    expected = [np.count_nonzero(labels == label) for label in classes]
    assert tally.classes.tolist() == expected
