"""Technical documentation: the nine headings of Annex IV to the EU's AI Act, as far as the model itself can fill them.

Article 11 of Regulation (EU) 2024/1689 asks providers of high-risk systems for technical documentation, and Annex IV
lists what it contains. A model and its rows know a part of that; the rest is marked as open, so that nobody mistakes a
skeleton for a finished document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLES = (
    "General description of the AI system",
    "Detailed description of the elements of the AI system and of the process for its development",
    "Monitoring, functioning and control of the AI system",
    "Appropriateness of the performance metrics for the specific AI system",
    "Risk management system in accordance with Article 9",
    "Relevant changes made by the provider to the system through its lifecycle",
    "List of the harmonised standards applied in full or in part",
    "Copy of the EU declaration of conformity referred to in Article 47",
    "System to evaluate the performance of the AI system in the post-market phase in accordance with Article 72",
)
"""The nine points of Annex IV in the words of the Regulation, without its sub-points."""

OPEN = (
    (
        "the provider, and earlier versions",
        "how the system interacts with other hardware and software, and in which forms it is supplied",
        "the interface and the instructions for those who use it",
    ),
    (
        "where the rows come from, how they were chosen and labelled, and what they leave out",
        "why this design was chosen, and for whom the system is meant",
        "the assessment of human oversight (Article 14), planned changes, and cybersecurity (Article 15)",
    ),
    (
        "foreseeable unintended outcomes, and risks to health, safety, fundamental rights and of discrimination",
        "the measures of human oversight",
    ),
    ("why these figures suit the purpose",),
    ("the risks found, how they were judged, and what is done about them",),
    ("every relevant change, with its date",),
    ("the standards with their references, or how the requirements are met without them",),
    ("a copy of the declaration",),
    ("the post-market monitoring plan: who follows it, and how often the model is judged again",),
)
"""What each point asks for that no model and no table can tell."""


SECTIONS = {
    "purpose": "What the model is for",
    "equation": "The equation",
    "quality": "Quality",
    "fairness": "Groups compared",
    "data": "The data",
    "limits": "Limits",
}
"""Headings of the sections that tell more."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the report knows, and the section that tells more, if there is one."""

    text: str
    section: str = ""

    @property
    def heading(self) -> str:
        """What the section is called."""
        return SECTIONS[self.section]


@dataclass(frozen=True, slots=True)
class AnnexPoint:
    """One of the nine points: what the report knows, what the author says, and what is still to be written."""

    number: int
    title: str
    facts: tuple[Fact, ...]
    own: str | None
    open: tuple[str, ...]


def annex_points(
    facts: Mapping[int, Sequence[Fact]], own: Mapping[int, str], open_too: Mapping[int, Sequence[str]]
) -> tuple[AnnexPoint, ...]:
    """Return the nine points; a text of the author closes what was open in its point.

    Parameters
    ----------
    facts : dict of number to facts
        What the report knows.
    own : dict of number to str
        The author's text of a point, 1 to 9.
    open_too : dict of number to texts
        What is open in this report beyond what is open in every one.

    Examples
    --------
    >>> points = annex_points({}, {5: "See the risk file."}, {})
    >>> [point.number for point in points if not point.open]
    [5]
    """
    if unknown := sorted(number for number in own if number not in range(1, len(TITLES) + 1)):
        raise ValueError(f"Annex IV has the points 1 to {len(TITLES)}, but annex_iv names {unknown}.")
    return tuple(
        AnnexPoint(
            number,
            title,
            tuple(facts.get(number, ())),
            own.get(number),
            () if number in own else (*open_too.get(number, ()), *OPEN[number - 1]),
        )
        for number, title in enumerate(TITLES, start=1)
    )
