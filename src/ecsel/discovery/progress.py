"""How far long work is: a share of it between 0 and 1, and what is being done.

A search ends as soon as a law is accepted, so the share is that of the stages passed, not a forecast of the time left.
"""

from collections.abc import Callable

Progress = Callable[[float, str], None]


def silent(share: float, doing: str) -> None:
    """Tell nobody."""


def part(progress: Progress, first: float, last: float, prefix: str = "") -> Progress:
    """Return the progress of a part of the work that lasts from share ``first`` to share ``last`` of the whole.

    >>> part(lambda share, doing: print(f"{share:.2f} {doing}"), 0.5, 1.0, "fold 2: ")(0.5, "ranking")
    0.75 fold 2: ranking
    """

    def report(share: float, doing: str) -> None:
        progress(first + (last - first) * share, prefix + doing)

    return report
