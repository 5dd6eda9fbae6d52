"""Layers: every name is there where it is used, and nothing is computed twice."""

from collections import Counter

from ecsel.export.program.lowering import lower
from ecsel.export.targets.sql.layers import answers_of, columns_read, input_name, layers_of


def test_every_layer_reads_the_one_below(case):
    program = lower(case.model, contributions="shapley", baseline=case.rows[case.ordinary[0]])
    below = {input_name(i) for i in range(len(program.inputs))}
    for layer in layers_of(program):
        assert set(layer.passed) <= below
        new = [name for name, _ in layer.new]
        for _, value in layer.new:
            assert set(columns_read(value)) <= below
        assert len({*layer.passed, *new}) == len(layer.passed) + len(new)
        below = {*layer.passed, *new}
    assert below == set(answers_of(program))


def test_what_has_a_name_is_an_answer_or_used_twice(case):
    program = lower(case.model)
    layers = layers_of(program)
    uses = Counter(name for layer in layers for _, value in layer.new for name in columns_read(value))
    for layer in layers:
        for name, _ in layer.new:
            assert name in answers_of(program) or uses[name] > 1
