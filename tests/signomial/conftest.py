"""Hypothesis learns what terms and signomials look like; tests ask for them by type."""

from fractions import Fraction

from hypothesis import strategies as st

from ecsel.signomial import Factor, Parity, Signomial, Term

NAMES = ("x", "y", "page value", "[x > 4]")
EXPONENTS = st.one_of(
    st.integers(-4, 4),
    st.fractions(-3, 3, max_denominator=6),
    st.sampled_from([Fraction(1, 2), Fraction(-1, 2), Fraction(1, 3), 0.5, 2.0, -1.0, 1.0]),
    st.floats(-3, 3),
)
COEFFICIENTS = st.floats(-100, 100).filter(lambda a: a == 0 or abs(a) > 1e-3)
SHIFTS = st.one_of(st.sampled_from([1.0, 50.0, 0.1]), st.floats(0.5, 1e4))
SIGNED = st.sampled_from([Parity.ODD, Parity.ABSOLUTE])


@st.composite
def _powers(draw):
    exponents = draw(st.dictionaries(st.sampled_from(NAMES), EXPONENTS, max_size=3))
    treatment = {name: draw(st.sampled_from(["natural", "odd", "absolute"])) for name in exponents}
    odd = {name for name, how in treatment.items() if how == "odd"}
    absolute = {name for name, how in treatment.items() if how == "absolute"}
    natural = Term(1.0, {name: b for name, b in exponents.items() if treatment[name] == "natural"})
    return natural * Term(
        draw(COEFFICIENTS), {name: exponents[name] for name in odd | absolute}, odd=odd, absolute=absolute
    )


@st.composite
def _factors(draw):
    """Factors with a shift or a logarithm that are smooth on positive features."""
    name, exponent = draw(st.sampled_from(NAMES)), draw(EXPONENTS)
    form = draw(st.sampled_from(["shift", "far", "log", "shifted log"]))
    if form == "shift":
        return Factor(name, exponent, draw(st.sampled_from(list(Parity))), shift=draw(SHIFTS))
    if form == "far":
        return Factor(name, exponent, draw(SIGNED), shift=-2000.0)
    if form == "log":
        return Factor(name, draw(st.integers(1, 3)), draw(SIGNED), log=True)
    return Factor(name, exponent, draw(st.sampled_from(list(Parity))), shift=draw(st.floats(1.0, 100.0)), log=True)


@st.composite
def _terms(draw):
    return draw(_powers()) * Term.from_factors(1.0, draw(st.lists(_factors(), max_size=2)))


st.register_type_strategy(Term, st.one_of(_powers(), _terms()))
st.register_type_strategy(Signomial, st.lists(st.from_type(Term), max_size=4).map(Signomial))
