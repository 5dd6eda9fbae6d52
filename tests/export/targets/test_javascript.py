"""The exported JavaScript runs in Node and says what the model says."""

import json
import math
import subprocess

import numpy as np
import pytest

from ecsel import Signomial
from ecsel.export import to_javascript, to_python


def js(value):
    if value is None:
        return "null"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{json.dumps(key)}]: {js(each)}" for key, each in value.items()) + "}"
    return "[" + ", ".join(map(js, value)) + "]" if isinstance(value, list) else json.dumps(value)


@pytest.fixture
def node(need_program):
    """Run a script and return the JSON that it prints."""
    program = need_program("node", "nodejs")

    def run(*arguments, script=None):
        done = subprocess.run(
            [program, *arguments], input=script, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def answers(results, classes):
    if not classes:
        return [[each["prediction"]] for each in results], [None] * len(results)
    keys = [label if isinstance(label, str) else json.dumps(label) for label in classes]
    return [[each["probabilities"][key] for key in keys] for each in results], [each["label"] for each in results]


def keys_of(case):
    classes = case.view.classes if case.view.has_classes else ()
    return [int(label) if isinstance(label, float) and label.is_integer() else label for label in classes]


def test_equals_the_model_on_awkward_rows(case, node):
    script = f"{to_javascript(case.model)}\nconsole.log(JSON.stringify({js(case.rows)}.map(predict)))"
    case.assert_same(*answers(node("-", script=script), keys_of(case)))


@pytest.mark.parametrize("method", ["log_additive", "attribution", "shapley"])
def test_contributions_are_those_of_the_other_exports(fitted_case, method, node):
    case = fitted_case
    options = {"contributions": method, "baseline": case.rows[case.ordinary[0]]}
    reported = node(
        "-", script=f"{to_javascript(case.model, **options)}\nconsole.log(JSON.stringify({js(case.rows)}.map(predict)))"
    )
    python = {}
    exec(to_python(case.model, **options), python)
    for row, mine in zip(case.rows, reported, strict=True):
        for theirs, each in zip(python["predict"](row)["contributions"], mine["contributions"], strict=True):
            assert each["class"] == theirs["class"]
            assert each.get("term") == theirs.get("term")
            base, their_base = (np.array(one["base_value"], dtype=float) for one in (each, theirs))
            np.testing.assert_allclose(base, their_base, rtol=1e-9)
            assert list(each["values"]) == list(theirs["values"])
            values, wanted = (np.array(list(one["values"].values()), dtype=float) for one in (each, theirs))
            np.testing.assert_allclose(values, wanted, rtol=1e-9, atol=1e-9 * np.nanmax(np.abs(wanted), initial=1.0))


def test_a_module_can_be_imported(tmp_path, node):
    (tmp_path / "model.mjs").write_text(to_javascript(Signomial.parse("2*x*y"), module=True), encoding="ascii")
    main = tmp_path / "main.mjs"
    main.write_text(
        """import { predict } from "./model.mjs";
        const told = [{ x: 1, y: 3 }, { x: 2n, y: true }, { x: undefined, y: 1 }].map((row) => predict(row).prediction);
        for (const row of [{ x: 1 }, { x: 1, y: "2" }])
          try { predict(row); } catch (error) { told.push(error.message); }
        console.log(JSON.stringify(told));""",
        encoding="ascii",
    )
    assert node(str(main)) == [
        pytest.approx(6.0),
        pytest.approx(4.0),
        None,
        'the row has no column "y"',
        'column "y" must be a number, not string',
    ]


def test_levels_beyond_the_safe_integers_stay_apart(node, product_of):
    from ecsel.tables import TableEncoder

    big = 2**53
    view = product_of(TableEncoder.fit([[big], [big + 1]] * 3, categorical=[0]), [1.0, 0.0])
    script = f"{to_javascript(view)}\nconsole.log(JSON.stringify([{big}n, {big + 1}n].map((x0) => predict({{ x0 }}))))"
    assert [each["prediction"] for each in node("-", script=script)] == pytest.approx([10.0, 1.0])
