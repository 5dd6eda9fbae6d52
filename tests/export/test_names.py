"""Names are data: whatever columns, levels and classes are called, exports neither break nor run them."""

import json
import subprocess

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ecsel.explain import ModelView
from ecsel.export import to_javascript, to_python
from ecsel.signomial import ScoreTerms
from ecsel.tables import TableEncoder
from ecsel.tables.raw import RawColumn
from ecsel.tables.reading import RawTable

HOSTILE = [
    "'); DROP TABLE t; --",
    '"; throw 1; //',
    "</script><script>alert(1)</script>",
    "=1+1",
    "@SUM(A1)",
    "+a",
    "-b",
    "\n    raise SystemExit\n#",
    '"""',
    "\\",
    "${x}`",
    "%s{0}",
    "\u2028\u2029",
    "😀",
    "class",
    "SELECT",
    "None",
    "__proto__",
    "constructor",
    "row",
    "v0",
    "",
    " ",
    "\x00",
    "*/",
    "<!--",
]
names = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8))
distinct_names = st.lists(names, min_size=2, max_size=2, unique=True)


def hostile_model(columns, levels, classes):
    """Return a model with a column of quantities and one of levels under the given names."""
    raw = (np.array([1.0, 2.0, 3.0, 4.0]), np.array(levels * 2, dtype=object))
    table = RawTable(tuple(map(RawColumn, columns, raw)), 4, named=True)
    try:
        encoder = TableEncoder.fit(table)
    except ValueError:  # the table itself is refused: two features of one name, text that reads as numbers
        assume(False)
    assume(len(encoder.features) == 3)
    terms = ScoreTerms([0.7, -0.2], [[1.0, 0.5, -0.5], [0.3, 0.0, 1.0]], [0, 1], 2)
    return ModelView(
        terms=terms,
        link="softmax",
        classes=tuple(classes),
        feature_names=encoder.feature_names,
        raw_names=encoder.raw_names,
        players=encoder.players,
        monomials=tuple(t.monomial for each in terms.to_signomials(encoder.feature_names) for t in each.terms),
        encoder=encoder,
        threshold=0.5,
    ), table


def expected(view, table):
    p = view.probabilities(table)
    return p, [view.classes[c] for c in view.decisions(p)]


def rows_of(table):
    return [
        dict(zip(table.names, row, strict=True))
        for row in zip(*(c.source.tolist() for c in table.columns), strict=True)
    ]


@settings(max_examples=40, deadline=None)
@given(distinct_names, distinct_names, distinct_names)
def test_python_takes_any_name(columns, levels, classes):
    view, table = hostile_model(columns, levels, classes)
    source = to_python(view, contributions="shapley")
    assert source.isascii()
    namespace = {}
    exec(compile(source, "model", "exec"), namespace)
    told = [namespace["predict"](row) for row in rows_of(table)]
    p, labels = expected(view, table)
    np.testing.assert_allclose([[each["probabilities"][c] for c in classes] for each in told], p, rtol=1e-9)
    assert [each["label"] for each in told] == labels
    assert list(told[0]["contributions"][0]["values"]) == columns


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(distinct_names, distinct_names, distinct_names)
def test_javascript_takes_any_name(need_program, columns, levels, classes):
    program = need_program("node", "nodejs")
    view, table = hostile_model(columns, levels, classes)
    source = to_javascript(view, contributions="attribution")
    assert source.isascii()
    assert not [mark for mark in ("</", "<!--", "\x00") if mark in source]
    rows = json.dumps([list(row.items()) for row in rows_of(table)])
    wanted = json.dumps(classes)
    run = f"""{source}
    const told = {rows}.map((row) => predict(Object.fromEntries(row)));
    console.log(JSON.stringify(told.map((each) => [{wanted}.map((c) => each.probabilities[c]), each.label,
      Object.keys(each.contributions[0].values).length])));"""
    done = subprocess.run([program, "-"], input=run, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    p, labels = expected(view, table)
    np.testing.assert_allclose([each[0] for each in told], p, rtol=1e-9)
    assert [each[1] for each in told] == labels
    assert told[0][2] == 2
