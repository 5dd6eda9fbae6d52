import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from ecsel.fitting.report import Status
from ecsel.fitting.solvers import initialization as module
from ecsel.fitting.solvers.base import Stop
from ecsel.fitting.solvers.initialization import run_all, scattered
from ecsel.fitting.solvers.newton import minimise

SHARES = np.array([0.5, 0.5])
STOP = Stop(1e-6, 1e-4, 20)


def some_starts(problem, count=5):
    rng = np.random.default_rng(0)
    return [scattered(problem, SHARES, rng) for _ in range(count)]


def test_threads_find_the_same_to_the_last_bit(make_table, make_problem):
    alone, shared = (make_problem(make_table(n=300), n_terms=2, n_threads=n)[0] for n in (1, 2))
    starts = some_starts(alone)
    for one, other in zip(run_all(alone, starts, STOP), run_all(shared, starts, STOP), strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)
        assert one.iterations == other.iterations


def test_scattered_starts_differ_in_size_and_curvature(make_table, make_problem):
    problem, _ = make_problem(make_table(), n_terms=2)
    sizes = [np.std(problem.unpack(start)[2]) for start in some_starts(problem, 40)]
    assert max(sizes) > 5 * min(sizes)
    curvatures = np.array([problem.unpack(start)[1] for start in some_starts(problem, 40)])
    assert (curvatures > 0).any()
    assert (curvatures < 0).any()


def test_an_interrupt_of_watched_starts_keeps_what_was_reached(make_table, make_problem):
    problem, _ = make_problem(make_table(), n_terms=2)

    def watch(iteration, *_):
        if iteration == 2:
            raise KeyboardInterrupt

    (run,) = run_all(problem, some_starts(problem), STOP, watch)
    assert run.status is Status.INTERRUPTED
    assert run.iterations == 2


class ReportingPool(ThreadPoolExecutor):
    """Threads that tell when the caller waits for his tasks, and when he has called off all that he could."""

    def __init__(self, n_tasks):
        super().__init__(2, thread_name_prefix="ecsel")
        self.n_tasks, self.tasks = n_tasks, []
        self.awaited, self.called_off = threading.Event(), threading.Event()

    def submit(self, *arguments):
        future = super().submit(*arguments)
        self.tasks.append(future)
        if len(self.tasks) == 1:
            future.result = lambda: (self.awaited.set(), Future.result(future))[1]
        if len(self.tasks) == self.n_tasks:
            future.cancel = lambda: (Future.cancel(future), self.called_off.set())[0]
        return future


@pytest.mark.usefixtures("interruptible")
@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
def test_an_interrupt_while_threads_work_keeps_what_they_reach(make_table, make_problem, monkeypatch):
    problem, _ = make_problem(make_table(), n_terms=2, n_threads=2)
    starts = some_starts(problem, 8)
    first, pool = threading.Lock(), ReportingPool(len(starts))

    def slow(*arguments):
        pool.awaited.wait()
        if first.acquire(blocking=False):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        # a signal on the very way to sleep wakes nobody: then the end of this task does, and the outcome is the same
        pool.called_off.wait(1)
        return minimise(*arguments)

    monkeypatch.setattr(module, "minimise", slow)
    monkeypatch.setattr(module, "thread_pool", lambda _: pool)
    runs = run_all(problem, starts, STOP)
    assert runs[-1].status is Status.INTERRUPTED
    assert 1 <= len(runs) < len(starts)
    assert runs[0].objective < problem.objective(starts[0])
