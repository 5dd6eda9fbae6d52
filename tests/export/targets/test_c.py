"""The exported C compiles without a warning as C99 and says what the model says."""

import math
import subprocess

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ecsel import Signomial
from ecsel.export import to_c, to_python
from ecsel.export.program.lowering import lower
from ecsel.export.targets.c import literal, member

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wno-overlength-strings", "-Werror", "-O0"]


def c_value(value, column):
    """Write a cell as C."""
    is_missing = value is None or (isinstance(value, float) and math.isnan(value))
    if column.kind == "text":
        return "NULL" if is_missing else literal(value)
    if is_missing:
        return "NAN"
    return f"{'-' if value < 0 else ''}INFINITY" if math.isinf(value) else repr(float(value))


@pytest.fixture
def run_c(need_program, tmp_path):
    """Compile a model with its rows, run it and return the printed numbers by row."""
    gcc = need_program("gcc", "gcc")

    def run(source, program, rows):
        cells = ",\n".join(
            "{" + (", ".join(c_value(row[each.name], each) for each in program.inputs) or "0") + "}" for row in rows
        )
        reported = [f"r.probability[{c}]" for c in range(len(program.classes))] or ["r.prediction"]
        reported += ["(double)r.label"] if program.classes else []
        reported += [
            f"r.contribution[{n}][{i}]"
            for n, _ in enumerate(program.contributions)
            for i, _ in enumerate(program.inputs)
        ]
        main = f"""{source}
        #include <stdio.h>
        static const ecsel_row rows[] = {{{cells}}};
        int main(void) {{
            for (int i = 0; i < {len(rows)}; ++i) {{
                const ecsel_result r = ecsel_predict(&rows[i]);
                printf("{" ".join(["%.17g"] * len(reported))}\\n", {", ".join(reported)});
            }}
            return 0;
        }}"""
        (tmp_path / "model.c").write_text(main, encoding="ascii")
        command = [gcc, *FLAGS, str(tmp_path / "model.c"), "-o", str(tmp_path / "model"), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        printed = subprocess.run([str(tmp_path / "model")], capture_output=True, text=True, check=True, timeout=60)
        return [[float(word) for word in line.split()] for line in printed.stdout.splitlines()]

    return run


def answers(reported, classes):
    """Turn printed numbers into outputs and labels, None on a refused row."""
    outputs, labels = [], []
    for numbers in reported:
        p = numbers[: len(classes)] if classes else numbers[:1]
        refused = all(map(math.isnan, p))
        assert refused or not any(map(math.isnan, p))
        outputs.append(None if refused else p)
        position = int(numbers[len(p)]) if classes else None
        if classes:
            assert (position == -1) == refused
        labels.append(classes[position] if classes and not refused else None)
    return outputs, labels


def test_equals_the_model_on_awkward_rows(case, run_c):
    program = lower(case.model)
    case.assert_same(*answers(run_c(to_c(case.model), program, case.rows), program.classes))


def test_contributions_are_those_of_the_other_exports(fitted_case, run_c):
    case = fitted_case.every(5)
    options = {"contributions": "shapley", "baseline": fitted_case.rows[fitted_case.ordinary[0]]}
    reported = run_c(to_c(case.model, **options), lower(case.model, **options), case.rows)
    python = {}
    exec(to_python(case.model, **options), python)
    for row, numbers in zip(case.rows, reported, strict=True):
        values = [v for each in python["predict"](row)["contributions"] for v in each["values"].values()]
        wanted = np.array(values, dtype=float)
        np.testing.assert_allclose(numbers[-len(values) :], wanted, rtol=1e-9, atol=1e-12)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_c_takes_any_name(run_c, draw_hostile, data):
    hostile = draw_hostile(data)
    source = to_c(hostile.view)
    assert source.isascii()
    assert "??" not in source
    outputs, labels = answers(run_c(source, lower(hostile.view), hostile.rows), hostile.classes)
    np.testing.assert_allclose(outputs, hostile.probabilities, rtol=1e-9)
    assert labels == hostile.labels


def test_c_takes_every_hostile_name(run_c, all_hostile):
    for hostile in all_hostile:
        _, labels = answers(run_c(to_c(hostile.view), lower(hostile.view), hostile.rows), hostile.classes)
        assert labels == hostile.labels


def test_members_are_readable_where_names_are():
    inputs = lower(Signomial.parse("col('pay value')*col('*/')*col('9é')")).inputs
    assert [member(i, column) for i, column in enumerate(inputs)] == ["x0", "x1_9", "x2_pay_value"]


def test_a_model_without_columns_compiles(run_c):
    assert run_c(to_c(Signomial.parse("3")), lower(Signomial.parse("3")), [{}]) == [[3.0]]


def test_a_prefix_is_an_identifier():
    assert "credit_predict(const credit_row *row)" in to_c(Signomial.parse("x"), prefix="credit")
    with pytest.raises(ValueError, match="prefix must be letters, digits and underscores"):
        to_c(Signomial.parse("x"), prefix="x; int")
