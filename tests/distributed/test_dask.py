"""Dask collections: the model of the table in memory, whatever the partitions, also when a worker dies."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from ecsel import ECSELClassifier
from ecsel.distributed import dask_rows

dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")
FIT = {"n_terms": 2, "l1": 1e-3, "tol": 1e-12, "n_jobs": 1}


@pytest.fixture(scope="module")
def in_memory(frame):
    return ECSELClassifier(**FIT).fit(frame.drop(columns="ill"), frame["ill"])


@pytest.fixture(autouse=True)
def one_thread_each():
    import dask

    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("npartitions", [1, 11])
def test_a_data_frame_gives_the_model_of_the_table(frame, in_memory, npartitions):
    ddf = dd.from_pandas(frame, npartitions=npartitions)
    X = frame.drop(columns="ill")
    start = ECSELClassifier(**FIT, warm_start=True)
    start.__dict__.update({k: v for k, v in in_memory.__dict__.items() if k.endswith("_") or k == "_score_terms"})
    model = start.fit(ddf.drop(columns="ill"), ddf["ill"])
    assert model.fit_report_.objective == pytest.approx(in_memory.fit_report_.objective, abs=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), in_memory.predict_proba(X), atol=1e-6)
    assert model.encoder_.feature_names == in_memory.encoder_.feature_names


def test_arrays_and_weights(frame):
    cells = frame[["size", "age"]].fillna(1.0).to_numpy()
    labels, weights = (frame["ill"] == "yes").to_numpy(), 1.0 + (frame["age"].to_numpy() > 50)
    options = FIT | {"n_terms": 1}
    parts = [da.from_array(each, chunks=len(each) // 4) for each in (labels, weights)]
    model = ECSELClassifier(**options).fit(da.from_array(cells, chunks=(1500, 1)), parts[0], sample_weight=parts[1])
    twin = ECSELClassifier(**options).fit(cells, labels, sample_weight=weights)
    assert model.fit_report_.objective == pytest.approx(twin.fit_report_.objective, abs=1e-10)
    np.testing.assert_allclose(model.predict_proba(cells), twin.predict_proba(cells), atol=1e-6)


def test_target_by_name_and_mistakes(frame):
    ddf = dd.from_pandas(frame, npartitions=3)
    model = ECSELClassifier(**FIT | {"n_terms": 1, "tol": 1e-6}).fit(ddf, "ill")
    assert model.feature_names_in_.tolist() == ["size", "age", "colour", "known"]
    with pytest.raises(ValueError, match="no column 'sick'"):
        model.fit(ddf, "sick")
    with pytest.raises(ValueError, match="3 partitions, but y has 2"):
        model.fit(ddf.drop(columns="ill"), ddf["ill"].repartition(npartitions=2))
    with pytest.raises(TypeError, match="y must be a Dask"):
        model.fit(ddf.drop(columns="ill"), frame["ill"])


def test_what_travels_is_small(frame, monkeypatch):
    """A function that is sent to the rows takes no rows along."""
    import cloudpickle

    sizes = []
    plain = dask_rows._Sum

    def weighed(function):
        sizes.append(len(cloudpickle.dumps(function)))
        return plain(function)

    monkeypatch.setattr(dask_rows, "_Sum", weighed)
    ddf = dd.from_pandas(frame, npartitions=3)
    ECSELClassifier(**FIT | {"n_terms": 1, "tol": 1e-6}).fit(ddf, "ill")
    assert len(sizes) > 5
    assert max(sizes) < 20_000


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_killed", [1, 2])
def test_killed_workers_do_not_lose_the_fit(frame, n_killed):
    """One of two workers, or both, die in the fourth round."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster) as client:
        ddf = client.persist(dd.from_pandas(frame, npartitions=4))
        rounds, killed = [], []
        own_map = dask_rows.DaskBlocks.map

        def killing_map(self, function):
            rounds.append(time.monotonic())
            if len(rounds) == 4:
                killed.extend(list(client.run(os.getpid).values())[:n_killed])
                for victim in killed:
                    threading.Timer(0.01, os.kill, (victim, signal.SIGKILL)).start()
            return own_map(self, function)

        with pytest.MonkeyPatch.context() as patch:
            import dask

            patch.setattr(dask_rows.DaskBlocks, "map", killing_map)
            with dask.config.set(scheduler=None):
                model = ECSELClassifier(n_terms=1, l1=1e-3, n_jobs=1).fit(ddf, "ill")
        assert len(killed) == n_killed
        assert len(rounds) > 6
        assert not {*killed} & {*client.run(os.getpid).values()}
    X = frame.drop(columns="ill")
    twin = ECSELClassifier(n_terms=1, l1=1e-3, n_jobs=1).fit(X, frame["ill"])
    assert model.fit_report_.objective == pytest.approx(twin.fit_report_.objective, rel=1e-3)
