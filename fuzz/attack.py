"""What an attack is: a source of hostile cases, each of which must be served or refused, and never anything else."""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import random
    from pathlib import Path

SERVED, REFUSED = "served", "refused"
MAX_MESSAGE = 2000
"""Characters of an error that a person can be shown."""


class Attack(Protocol):
    """One kind of hostile input."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Make what the cases are made from, once; files may be written into the folder."""

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
