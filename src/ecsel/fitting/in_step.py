"""Walks side by side: iterators that know nothing of each other are advanced together, one step of each at a time.

The steps of one time are spread over threads. Which thread takes which step changes nothing in what the walks yield.
"""

from __future__ import annotations

from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, TypeVar

from ecsel.fitting.blocks import on_pool_thread, thread_pool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")


def in_step(walks: Sequence[Iterator[T]], n_threads: int = 1) -> Iterator[tuple[T, ...]]:
    """Yield one item of every walk at a time; all must have as many.

    An interrupt, or an error of one walk, is raised as soon as the steps that have begun are done.
    """
    if n_threads == 1 or len(walks) == 1 or on_pool_thread():
        yield from zip(*walks, strict=True)
        return
    while row := _step_of_each(walks, n_threads):
        yield row


def _step_of_each(walks: Sequence[Iterator[T]], n_threads: int) -> tuple[T, ...]:
    """Return the next item of every walk, nothing where they have ended."""
    waiting: list[Future[list[T]]] = []
    try:
        waiting += (thread_pool(n_threads).submit(_next, walk) for walk in walks)
        row = [step.result() for step in waiting]
    except BaseException:
        for step in waiting:
            step.cancel()
        wait(waiting)  # a walk that is still at work could not be left behind
        raise
    return tuple(item for (item,) in row) if all(row) else ()


def _next(walk: Iterator[T]) -> list[T]:
    for item in walk:
        return [item]
    return []
