"""Work in child processes that are killed after a time limit, several at once, with the results as they come.

The limit is processor time, so that other work on the machine does not decide who finishes; a child that sleeps or
hangs is killed by the clock after `patience` times the limit. A child also ends itself when its parent is gone, so
that a killed benchmark leaves nothing running.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import resource
import signal
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.process import BaseProcess

PATIENCE = 8
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Done(Generic[Item, Result]):
    """What became of one item: a result, or none because of the time limit, or none because of an error."""

    item: Item
    result: Result | None
    error: str = ""

    @property
    def late(self) -> bool:
        """Whether the time limit ended it."""
        return self.result is None and not self.error


@dataclass(frozen=True, slots=True)
class _Child(Generic[Item]):
    item: Item
    process: BaseProcess
    deadline: float


def run_capped(
    items: Iterable[Item], work: Callable[[Item], Result], seconds: float, jobs: int = 1, patience: float = PATIENCE
) -> Iterator[Done[Item, Result]]:
    """Do `work` on every item, each in a child that may use `seconds` of processor time; yield as they come."""
    # A forked child has all libraries loaded already; importing them anew would cost more than many a cell.
    kind = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(kind)
    waiting = iter(items)
    running: dict[Connection, _Child[Item]] = {}
    try:
        while True:
            while len(running) < jobs:
                try:
                    item = next(waiting)
                except StopIteration:
                    break
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_child, args=(work, item, sender, seconds), daemon=True)
                process.start()
                sender.close()
                running[receiver] = _Child(item, process, time.monotonic() + patience * seconds)
            if not running:
                return
            nearest = min(child.deadline for child in running.values()) - time.monotonic()
            for receiver in wait(list(running), timeout=max(nearest, 0.0)):
                assert isinstance(receiver, Connection)
                child = running.pop(receiver)
                yield _received(receiver, child)
            for receiver in [r for r, child in running.items() if child.deadline <= time.monotonic()]:
                child = running.pop(receiver)
                _end(receiver, child.process)
                yield Done(child.item, None)
    finally:
        for receiver, child in running.items():
            _end(receiver, child.process)


def _received(receiver: Connection, child: _Child[Item]) -> Done[Item, Any]:
    try:
        result, error = receiver.recv()
    except EOFError:
        child.process.join()
        code = child.process.exitcode
        result, error = None, "" if code == -signal.SIGXCPU else f"the process ended with exit code {code}"
    _end(receiver, child.process)
    return Done(child.item, result, error)


def _end(receiver: Connection, process: BaseProcess) -> None:
    receiver.close()
    process.kill()
    process.join()


def _child(work: Callable[[Any], Any], item: Any, sender: Connection, seconds: float) -> None:
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    limit = math.ceil(used + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    try:
        sender.send((work(item), ""))
    except Exception:  # noqa: BLE001
        sender.send((None, traceback.format_exc()))


def _leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
