"""How much the searches of one fit may do: counted in moves rather than seconds, so that no clock decides on a law.

A move looks at all monomials of a dictionary once on at most `ROWS_OF_A_MOVE` rows, and takes between one and four
hundredths of a second. The same table gives the same law on a fast machine, a slow one and a busy one. A time limit
takes the place of the budget: who sets one says how long the search may take.
"""

from dataclasses import dataclass

MOVES = 600.0
"""Moves of all searches of a fit: several seconds on 200 rows."""
ROWS_OF_A_MOVE = 300
RANKING = 25.0
"""Moves that giving the laws found their full code length stands for; it is done once for each search."""
DECIDED = 10.0
"""The same where the law is decided on, and only its rivals are ranked beside it."""
GROWN = 4.0
"""Moves that one size of sums grown with free exponents stands for."""


@dataclass(eq=False)
class Budget:
    """The moves that are left, shared by all searches of a fit.

    >>> budget = Budget(2.0)
    >>> budget.spend(1.0, n_rows=600)
    >>> budget.is_spent
    True
    """

    left: float = MOVES

    def spend(self, moves: float, n_rows: int = ROWS_OF_A_MOVE) -> None:
        """Take some moves on so many rows."""
        self.left -= moves * max(n_rows / ROWS_OF_A_MOVE, 1.0)

    @property
    def is_spent(self) -> bool:
        """Whether no further search may begin, and those that run should end."""
        return self.left <= 0.0
