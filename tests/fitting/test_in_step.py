"""Walks side by side: the same items on any number of threads, and an end that leaves no walk at work."""

import threading
import time

import pytest

from ecsel.fitting.blocks import thread_pool
from ecsel.fitting.in_step import in_step


def squares(first, n=4):
    for i in range(n):
        time.sleep(0.001 * ((first + i) % 3))
        yield (first + i) ** 2


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_items_come_walk_by_walk_whatever_the_threads(n_threads):
    rows = list(in_step([squares(first) for first in range(5)], n_threads))
    assert rows == [tuple((first + i) ** 2 for first in range(5)) for i in range(4)]


def test_steps_of_one_time_run_on_several_threads():
    together = threading.Barrier(2, timeout=30)

    def meets():
        together.wait()
        yield threading.current_thread().name

    ((one, other),) = in_step([meets(), meets()], 2)
    assert one != other


def test_a_walk_within_a_walk_stays_on_its_thread():
    def inner():
        return list(in_step([squares(0), squares(1)], 2))

    assert thread_pool(2).submit(inner).result(timeout=30) == list(zip(squares(0), squares(1), strict=True))


@pytest.mark.parametrize("error", [ValueError("three"), KeyboardInterrupt()])
def test_an_error_is_raised_once_all_steps_are_done(error):
    done = []

    def fails():
        yield 1
        raise error

    def slow():
        yield 1
        time.sleep(0.1)
        done.append("slow")
        yield 2

    walks = in_step([fails(), slow()], 2)
    assert next(walks) == (1, 1)
    with pytest.raises(type(error)):
        next(walks)
    assert done == ["slow"]
