"""Names are data: whatever columns, levels and classes are called, exports neither break nor run them."""

import json
import subprocess

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel.export import to_javascript, to_python

FIXTURES = [HealthCheck.function_scoped_fixture]


@settings(max_examples=40, deadline=None, suppress_health_check=FIXTURES)
@given(st.data())
def test_python_takes_any_name(draw_hostile, data):
    check_python(draw_hostile(data))


def test_python_takes_every_hostile_name(all_hostile):
    for hostile in all_hostile:
        check_python(hostile)


def check_python(hostile):
    source = to_python(hostile.view, contributions="shapley")
    assert source.isascii()
    namespace = {}
    exec(compile(source, "model", "exec"), namespace)
    reported = [namespace["predict"](row) for row in hostile.rows]
    p = [[each["probabilities"][c] for c in hostile.classes] for each in reported]
    np.testing.assert_allclose(p, hostile.probabilities, rtol=1e-9)
    assert [each["label"] for each in reported] == hostile.labels
    assert list(reported[0]["contributions"][0]["values"]) == hostile.columns


@settings(max_examples=10, deadline=None, suppress_health_check=FIXTURES)
@given(st.data())
def test_javascript_takes_any_name(need_program, draw_hostile, data):
    check_javascript(need_program("node", "nodejs"), [draw_hostile(data)])


def test_javascript_takes_every_hostile_name(need_program, all_hostile):
    check_javascript(need_program("node", "nodejs"), all_hostile)


def check_javascript(program, models):
    """Run several models in one Node, each in a scope of its own."""
    script = f"console.log(JSON.stringify([{', '.join(map(reported_in_javascript, models))}]))"
    done = subprocess.run([program, "-"], input=script, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    for reported, hostile in zip(json.loads(done.stdout), models, strict=True):
        np.testing.assert_allclose([each[0] for each in reported], hostile.probabilities, rtol=1e-9)
        assert [each[1] for each in reported] == hostile.labels
        assert reported[0][2] == 2


def reported_in_javascript(hostile):
    source = to_javascript(hostile.view, contributions="attribution")
    assert source.isascii()
    assert not [mark for mark in ("</", "<!--", "\x00") if mark in source]
    rows = json.dumps([list(row.items()) for row in hostile.rows])
    return f"""(() => {{ {source}
    const reported = {rows}.map((row) => predict(Object.fromEntries(row)));
    return reported.map((each) => [{json.dumps(hostile.classes)}.map((c) => each.probabilities[c]),
      each.label, Object.keys(each.contributions[0].values).length]); }})()"""
