"""The candidates that a search has met, best first, without repetition."""

from dataclasses import dataclass, field

from ecsel.discovery.model import Candidate


@dataclass(eq=False)
class Pool:
    """Candidates by their set of monomials; of equal sets the better score is kept."""

    size: int = 400
    _found: dict[frozenset[bytes], Candidate] = field(default_factory=dict)

    def add(self, candidate: Candidate) -> None:
        """Note a candidate."""
        key = candidate.structure.key()
        old = self._found.get(key)
        if old is None or candidate.score < old.score:
            self._found[key] = candidate
        if len(self._found) > 4 * self.size:
            kept = self.ranked()[: self.size]
            best_by_length: dict[int, Candidate] = {}
            for c in self.ranked():
                best_by_length.setdefault(len(c), c)
            self._found = {c.structure.key(): c for c in [*kept, *best_by_length.values()]}

    def ranked(self) -> list[Candidate]:
        """Return the candidates, best score first."""
        return sorted(self._found.values(), key=lambda c: (c.score, len(c)))

    def best(self, *, n_terms: int | None = None) -> Candidate | None:
        """Return the best candidate, of a given number of terms if one is named."""
        found = [c for c in self._found.values() if n_terms is None or len(c) == n_terms]
        return min(found, key=lambda c: (c.score, len(c)), default=None)
