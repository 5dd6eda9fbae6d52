"""Hypothesis learns what terms and signomials look like; tests ask for them by type."""

from fractions import Fraction

from hypothesis import strategies as st

from ecsel.signomial import Signomial, Term

NAMES = ("x", "y", "page value", "abs")
EXPONENTS = st.one_of(
    st.integers(-4, 4),
    st.fractions(-3, 3, max_denominator=6),
    st.sampled_from([Fraction(1, 2), Fraction(-1, 2), Fraction(1, 3), 0.5, 2.0, -1.0, 1.0]),
    st.floats(-3, 3),
)
COEFFICIENTS = st.floats(-100, 100).filter(lambda a: a == 0 or abs(a) > 1e-3)


@st.composite
def _terms(draw):
    exponents = draw(st.dictionaries(st.sampled_from(NAMES), EXPONENTS, max_size=3))
    treatment = {name: draw(st.sampled_from(["natural", "odd", "absolute"])) for name in exponents}
    odd = {name for name, how in treatment.items() if how == "odd"}
    absolute = {name for name, how in treatment.items() if how == "absolute"}
    natural = Term(1.0, {name: b for name, b in exponents.items() if treatment[name] == "natural"})
    return natural * Term(
        draw(COEFFICIENTS), {name: exponents[name] for name in odd | absolute}, odd=odd, absolute=absolute
    )


st.register_type_strategy(Term, _terms())
st.register_type_strategy(Signomial, st.lists(st.from_type(Term), max_size=4).map(Signomial))
