"""What an attack is: a source of hostile cases, each of which must be served or refused, and never anything else."""

from __future__ import annotations

import os
import resource
import signal
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

SERVED, REFUSED = "served", "refused"
MAX_MESSAGE = 2000
"""Characters of an error that a person can be shown."""


class UnavailableError(Exception):
    """A program that an attack needs is not installed."""


class Attack(Protocol):
    """One kind of hostile input."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Make what the cases are made from, once; files may be written into the folder.

        Raises `UnavailableError` where a program is missing.
        """

    def run(self, rng: random.Random) -> str:
        """Run one case: return `SERVED` or `REFUSED`; whatever is raised is a finding."""


@dataclass
class Findings:
    """What some cases of an attack came to."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{n} {outcome}" for outcome, n in sorted(self.outcomes.items()))
        return f"{self.name}: {counts}, {len(self.failures)} failures"


def attack(target: Attack, folder: Path, rng: random.Random, n_cases: int) -> Findings:
    """Run so many cases."""
    found = Findings(target.name)
    target.prepare(folder)
    for _ in range(n_cases):
        state = rng.getstate()
        try:
            found.outcomes[target.run(rng)] += 1
        except Exception:  # noqa: BLE001 - whatever it is, it is what we look for
            found.failures.append(f"{traceback.format_exc(limit=-4)}random state {hash(state)}")
    return found


def refused(message: str) -> str:
    """Return that a case was refused, in a message that can be shown."""
    if not message or len(message) > MAX_MESSAGE:
        raise AssertionError(f"a refusal of {len(message)} characters")
    return REFUSED


def forked(work: Callable[[], object]) -> int:
    """Do some work in a copy of this process, and return its number; the copy ends with 0, or 1 where it raised."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of threads at a fork: the copy has none of them to wait for
        child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:  # noqa: BLE001 - told by the number
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def run_bounded(work: Callable[[], object], n_bytes: int, seconds: int) -> None:
    """Do some work in a copy of this process that may take so much more memory and time; raise where it fails."""

    def bounded() -> None:
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, used + n_bytes))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        work()

    _, status = os.waitpid(forked(bounded), 0)
    if code := os.waitstatus_to_exitcode(status):
        reported = signal.Signals(-code).name if code < 0 else "an error"
        raise AssertionError(f"ended by {reported} with {n_bytes / 2**20:.0f} MiB more")
