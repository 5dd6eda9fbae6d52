"""All measures in one value: each is the one of its own module, and JSON brings it back."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, recall_score, roc_auc_score

from ecsel.quality import Quality, auc, brier, calibration_error, gini, ks, measure


def drawn(n_classes, seed=0, n=200):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(n_classes), n)
    codes = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
    return codes, p, rng.uniform(0.2, 2, n)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_each_measure_is_its_own(n_classes):
    codes, p, w = drawn(n_classes)
    decided = p.argmax(axis=1)
    quality = measure(codes, p, decided, w, 0.5)
    assert quality.accuracy == pytest.approx(accuracy_score(codes, decided, sample_weight=w))
    rarest = int(np.bincount(codes, weights=w).argmin())
    assert quality.minority == rarest
    recalls = recall_score(codes, decided, sample_weight=w, average=None)
    assert quality.minority_recall == pytest.approx(recalls[rarest])
    assert quality.brier == pytest.approx(brier(codes, p, w))
    assert quality.ece == pytest.approx(calibration_error(codes, p, w))
    if n_classes == 2:
        area = auc(codes, p[:, 1], w)
        assert (quality.auc, quality.auc_low, quality.auc_high) == (area.value, area.low, area.high)
        assert quality.ks == pytest.approx(ks(codes, p[:, 1], w))
        assert quality.gini == pytest.approx(gini(codes, p[:, 1], w))
    else:
        ones = [roc_auc_score(codes == c, p[:, c], sample_weight=w) for c in range(n_classes)]
        assert quality.auc == pytest.approx(np.mean(ones))
        assert quality.ks is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_json_brings_it_back(n_classes):
    codes, p, w = drawn(n_classes)
    quality = measure(codes, p, p.argmax(axis=1), w, 0.5)
    assert Quality.from_dict(json.loads(json.dumps(quality.to_dict()))) == quality


def test_a_class_without_rows_leaves_rankings_undefined():
    p = np.array([[0.6, 0.4], [0.3, 0.7]])
    quality = measure(np.array([0, 0]), p, p.argmax(axis=1), np.ones(2), 0.5)
    assert (quality.auc, quality.ks, quality.gini) == (None, None, None)
    assert quality.minority == 0
