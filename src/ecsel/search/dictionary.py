"""The dictionary: simple functions of raw columns, and products of two of them.

A column of numbers x enters as one of

    (x + o)^b with b = 1, 2, 3,        (x + s)^b with b = −2, −1, −1/2, 1/2,        log(x + s),
    |x − c|,    (x − c)²,

where the shift s keeps x + s positive on the training range, the origin o is 0 except for columns far from zero
(years), and c is one of five typical values, round numbers: with a distance from c an equation can say what is best in
the middle, or bends at c. An indicator enters as it is. A *piece* is one such factor or a product of two of different
columns, of two deviations x − c from the middle too. All pieces
are standardised, since screening, ridge and code length compare them; pieces that a few rows dominate (a standardised
value beyond `MAX_LEVERAGE`) are left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, combinations
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ecsel import _compiled
from ecsel.search.code_length import CENTRE, LOGARITHM, choice_cost, rational_cost
from ecsel.signomial.factor import Factor, Parity, canonical_factor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ecsel._typing import Floats, Mask, Places, Singles

MAX_LEVERAGE = 20.0
"""A piece whose largest standardised value is beyond this hangs on single rows."""
MAX_PAIRS = 3000
"""Pairs of a dictionary at most: with twenty shapes a pair of columns, 17 columns."""
MAX_VALUES_MULTIPLIED = 5
"""Indicators of the values of a number that products are made of, at most."""
FEW_COLUMNS = 6
"""Up to this many columns, pairs may have higher powers: there is room for them."""

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class Function:
    """A function of one column: a power, or the logarithm.

    `centre` is subtracted before, and `absolute` then takes the size of what is left.
    """

    exponent: Fraction
    log: bool = False
    centre: float | None = None
    absolute: bool = False
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        # the hash of a fraction is slow, and parts are looked up thousands of times
        object.__setattr__(self, "_hash", hash((self.exponent, self.log, self.centre, self.absolute)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_identity(self) -> bool:
        """Whether the function is the number itself."""
        return self.centre is None and not self.log and self.exponent == 1

    @property
    def is_shifted(self) -> bool:
        """Whether the function needs a positive argument, x + s."""
        return self.log or self.exponent.denominator != 1 or self.exponent < 0

    @property
    def cost(self) -> float:
        """The description length in nats."""
        cost = LOGARITHM if self.log else rational_cost(self.exponent)
        return cost if self.centre is None else cost + CENTRE

    def of(self, base: Floats) -> Floats:
        """Return the values on numbers that are positive where they must be."""
        if self.log:
            return np.log(base)
        if self.absolute:
            base = np.abs(base)
        if self.exponent.denominator == 1:
            return np.asarray(base ** int(self.exponent)) if self.exponent > 0 else 1.0 / base ** int(-self.exponent)
        return np.asarray(base ** float(self.exponent))


_POWERS = {b: Function(b) for b in (*map(Fraction, (1, 2, 3, -1, -2)), HALF, -HALF)}
ONE, LOG = _POWERS[Fraction(1)], Function(Fraction(1), log=True)
SINGLES = (*_POWERS.values(), LOG)


def distances(centre: float) -> tuple[Function, Function]:
    """Return |x − c| and (x − c)²."""
    return Function(Fraction(1), centre=centre, absolute=True), Function(Fraction(2), centre=centre)


def _pairs(text: str) -> tuple[tuple[Function, Function], ...]:
    shapes = (pair.split(",") for pair in text.split())
    return tuple((_POWERS[Fraction(a)], _POWERS[Fraction(b)]) for a, b in shapes)


PAIRS = (
    (LOG, LOG),
    (LOG, ONE),
    (ONE, LOG),
    *_pairs("1,1 1,-1 -1,1 1/2,1/2 1/2,1 1,1/2 1/2,-1/2 -1/2,1/2 1/2,-1 -1,1/2 1,2 2,1 2,-1 -1,2 -1,-1 2,2"),
)
MORE_PAIRS = _pairs("1,3 3,1 -1,3 3,-1 2,3 3,2 1,-1/2 -1/2,1 1/2,2 2,1/2 1,-2 -2,1")
WITH_INDICATOR = (ONE, LOG, _POWERS[HALF], _POWERS[Fraction(-1)], _POWERS[Fraction(2)])


@dataclass(frozen=True, eq=False)
class SearchColumn:
    """A column as the search sees it.

    Attributes
    ----------
    name
        The feature's name in equations.
    group
        The number of the raw column that it comes from: pieces never multiply two features of one column.
    values
        The values of the rows, finite.
    shift, origin
        What is added before roots, logarithms and negative powers, and before positive whole powers.
    straight
        Whether only the first power makes sense: indicators and hinges.
    functions
        The functions that the column may enter with, None for all.
    cut
        Whether the column is a threshold of another one, which takes part in some walks only, and in no product.
    centres
        Typical values, the middle one first, from which distances are measured; none where that makes no sense.
    """

    name: str
    group: int
    values: Floats
    shift: float = 0.0
    origin: float = 0.0
    straight: bool = False
    functions: frozenset[Function] | None = None
    cut: bool = False
    centres: tuple[float, ...] = ()

    @property
    def measured_from(self) -> tuple[float, ...]:
        """The centres, none where the user has named exponents: these speak of powers of the column itself."""
        return self.centres if self.functions is None and not self.straight else ()

    def allows(self, function: Function) -> bool:
        """Whether the column may enter with a function."""
        if self.straight and not function.is_identity:
            return False
        return self.functions is None or function in self.functions

    def offset(self, function: Function) -> float:
        """Return what is added to the column under a function."""
        if self.straight:
            return 0.0
        if function.centre is not None:
            return -function.centre
        return self.shift if function.is_shifted else self.origin


class Part(NamedTuple):
    """One factor of a piece: a column's position and a function of it."""

    column: int
    function: Function


Piece = tuple[Part, ...]


def single_pieces(columns: Sequence[SearchColumn]) -> list[Piece]:
    """Return all pieces of one column."""
    pieces: list[Piece] = []
    for j, column in enumerate(columns):
        pieces += [(Part(j, f),) for f in SINGLES if column.allows(f)]
        pieces += [(Part(j, f),) for centre in column.measured_from for f in distances(centre)]
    return pieces


def multiplied(columns: Sequence[SearchColumn], chosen: Iterable[int]) -> list[int]:
    """Return the columns that may be a factor of a product, sorted.

    Thresholds may not, and the single values of a number may not where they are many: the number itself does better.
    """
    numbers = {column.group for column in columns if not column.straight}
    n_values = Counter(column.group for column in columns if column.straight and not column.cut)
    kept = []
    for j in sorted(chosen):
        column = columns[j]
        one_of_many = column.straight and column.group in numbers and n_values[column.group] > MAX_VALUES_MULTIPLIED
        if not (column.cut or one_of_many):
            kept.append(j)
    return kept


def pair_pieces(columns: Sequence[SearchColumn], *chosen: Iterable[int], more: bool) -> list[Piece]:
    """Return the products of two of the chosen columns; of several choices what any of them has, once."""
    numbers = PAIRS + MORE_PAIRS if more else PAIRS
    pairs = dict.fromkeys(chain.from_iterable(combinations(multiplied(columns, each), 2) for each in chosen))
    used = dict.fromkeys(chain.from_iterable(pairs))
    parts = {j: {id(f): Part(j, f) for f in SINGLES if columns[j].allows(f)} for j in used}  # hashes are slow
    middles = {
        j: Part(j, Function(Fraction(1), centre=columns[j].measured_from[0])) for j in used if columns[j].measured_from
    }
    pieces: list[Piece] = []
    for i, j in pairs:
        a, b = columns[i], columns[j]
        if a.group == b.group:
            continue
        shapes = numbers
        if a.straight or b.straight:
            shapes = tuple((ONE, f) if a.straight else (f, ONE) for f in WITH_INDICATOR)
        left, right = parts[i], parts[j]
        pieces += [(left[id(f)], right[id(g)]) for f, g in shapes if id(f) in left and id(g) in right]
        if i in middles and j in middles:
            pieces.append((middles[i], middles[j]))
    return pieces


def piece_factors(piece: Piece, columns: Sequence[SearchColumn]) -> tuple[Factor, ...]:
    """Return the factors of a piece, ordered by name as a term has them."""
    factors = []
    for j, function in piece:
        column = columns[j]
        parity = Parity.ABSOLUTE if function.absolute else Parity.PLAIN
        shift = column.offset(function)
        made = canonical_factor(column.name, function.exponent, parity, shift=shift, log=function.log)
        if made is not None:
            factors.append(made)
    return tuple(sorted(factors))


class PieceValues:
    """Evaluates pieces on the rows of some columns; the functions of single columns are computed once."""

    def __init__(self, columns: Sequence[SearchColumn], rows: Places | None = None) -> None:
        self._columns = columns
        self._rows = rows
        self._known: dict[Part, Floats] = {}

    def part(self, part: Part) -> Floats:
        """Return the values of one factor."""
        if part not in self._known:
            column = self._columns[part.column]
            values = column.values if self._rows is None else column.values[self._rows]
            offset = column.offset(part.function)
            self._known[part] = part.function.of(values + offset if offset else values)
        return self._known[part]

    def piece(self, piece: Piece) -> Floats:
        """Return the values of a piece in double precision."""
        values = self.part(piece[0])
        for part in piece[1:]:
            values = values * self.part(part)
        return values


@dataclass(frozen=True, eq=False)
class Atoms:
    """Standardised pieces: z = (value − mean)/scale, in single precision, with their costs.

    Attributes
    ----------
    pieces
        The pieces.
    values
        z, (pieces × rows).
    mean, scale
        How values were standardised.
    costs, n_factors
        Description length in nats, and number of factors, of each piece.
    cut
        Whether a piece is a threshold.
    straight
        Whether a piece is a column as it is, a number or an indicator.
    groups
        The raw columns of each piece, (pieces, 2); twice the same for a piece of one column.
    leverage
        What the ridge of a piece is multiplied by: max(1, (max|z|/3)²), so that far rows do not buy large coefficients.
    """

    pieces: tuple[Piece, ...]
    values: Singles
    mean: Floats
    scale: Floats
    costs: Floats
    n_factors: Places
    cut: Mask
    straight: Mask
    groups: Places
    leverage: Floats

    def __len__(self) -> int:
        return len(self.pieces)

    def count_factors(self, places: Sequence[int]) -> int:
        """Return the number of factors of a set of atoms."""
        return sum(len(self.pieces[place]) for place in places)


def make_atoms(columns: Sequence[SearchColumn], pieces: Sequence[Piece], weights: Floats) -> Atoms:
    """Evaluate and standardise pieces under row weights; what is constant or hangs on single rows is left out."""
    parts: dict[tuple[int, int], Part] = {}  # by identity of the function: its hash would cost more than it spares
    for piece in pieces:
        for part in piece:
            parts.setdefault((part.column, id(part.function)), part)
    place = {key: at for at, key in enumerate(parts)}
    pairs = np.array(
        [(*(place[part.column, id(part.function)] for part in piece), -1)[:2] for piece in pieces], dtype=np.int64
    ).reshape(-1, 2)
    known = PieceValues(columns)
    values = np.array([known.part(part) for part in parts.values()]).reshape(len(parts), len(weights))
    z, mean, scale, top = standardised(values, pairs, weights / weights.sum())
    own = [columns[part.column] for part in parts.values()]
    indicator = np.array([column.straight for column in own], dtype=bool)[pairs[:, 0]] & (pairs[:, 1] < 0)
    chosen = np.flatnonzero((scale > 0) & (indicator | (top <= MAX_LEVERAGE)))
    pairs = pairs[chosen]
    first, second = pairs[:, 0], np.where(pairs[:, 1] < 0, pairs[:, 0], pairs[:, 1])
    groups = np.array([column.group for column in own], dtype=np.intp)
    cut = np.array([column.cut for column in own], dtype=bool)[first]
    identity = np.array([part.function.is_identity for part in parts.values()], dtype=bool)
    return Atoms(
        tuple(pieces[i] for i in chosen.tolist()),
        z if len(chosen) == len(z) else z[chosen],
        mean[chosen],
        scale[chosen],
        _prices(columns, list(parts.values()), pairs),
        1 + (pairs[:, 1] >= 0).astype(np.intp),
        cut,
        identity[first] & (pairs[:, 1] < 0) & ~cut,
        np.stack([groups[first], groups[second]], axis=1),
        np.maximum(1.0, (top[chosen] / 3) ** 2),
    )


def _prices(columns: Sequence[SearchColumn], parts: Sequence[Part], pairs: Places) -> Floats:
    """Return the description length of pieces in nats; a threshold also says which cut of its column it takes."""
    n_groups = len({column.group for column in columns})
    n_cuts = Counter(column.group for column in columns if column.cut)
    own = np.zeros(len(parts) + 1)  # the last one is the part that a piece of one column does not have
    for at, (j, function) in enumerate(parts):
        own[at] = function.cost + (1.0 + log(n_cuts[columns[j].group]) if columns[j].cut else 0.0)
    choice = np.array([choice_cost(n_groups, size) for size in (1, 2)])
    return np.asarray(choice[(pairs[:, 1] >= 0).astype(np.intp)] + own[pairs[:, 0]] + own[pairs[:, 1]])


def standardised(parts: Floats, pairs: Places, share: Floats) -> tuple[Singles, Floats, Floats, Floats]:
    """Return products of parts (a part alone where the second is −1), standardised, with mean, width, largest size.

    The width is 0 where a product does not vary. `share` are row weights that sum to one; only rows that have one count
    for the largest size.
    """
    values = np.empty((len(pairs), parts.shape[1]), dtype=np.float32)
    numbers = np.empty((len(pairs), 3))
    compiled = _compiled.compiled
    if compiled is not None:
        pairs = np.ascontiguousarray(pairs, dtype=np.int64)
        compiled.standardise_pieces(len(parts), *values.shape, parts, pairs, share, values, numbers)
    else:
        for p, (i, j) in enumerate(pairs):
            raw = parts[i] if j < 0 else parts[i] * parts[j]
            mean = float(share @ raw)
            width = float(np.sqrt(share @ (raw - mean) ** 2))
            if not np.isfinite(width) or width <= 1e-9 * abs(mean) or width < 1e-300:
                numbers[p] = mean, 0.0, 0.0
                continue
            z = (raw - mean) / width
            values[p], numbers[p] = z, (mean, width, np.abs(z[share > 0]).max())
    return values, numbers[:, 0], numbers[:, 1], numbers[:, 2]


def standardisation(raw: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, scale and leverage of pieces (pieces × rows) under weights."""
    share = weights / weights.sum()
    mean = raw @ share
    scale = np.sqrt(np.maximum((raw - mean[:, None]) ** 2 @ share, 1e-300))
    top = np.max(np.abs(raw - mean[:, None]), axis=1, initial=0.0) / scale
    return mean, scale, np.maximum(1.0, (top / 3) ** 2)


def join_atoms(left: Atoms, right: Atoms) -> Atoms:
    """Return the atoms of two dictionaries of the same rows as one."""
    return Atoms(
        left.pieces + right.pieces,
        np.concatenate([left.values, right.values]),
        *(
            np.concatenate([getattr(left, name), getattr(right, name)])
            for name in ("mean", "scale", "costs", "n_factors", "cut", "straight", "groups", "leverage")
        ),
    )
