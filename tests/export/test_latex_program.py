"""The complete LaTeX, read by a parser and carried out from the raw values of a row, says what the model says of it.

The parser is a converter to MathML, which takes LaTeX apart: names, numbers, operators, fences, fractions, cases. What
remains here is the order of operations of school: or, and, not, comparisons, sums, products.
"""

import html
import math
import operator
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from latex2mathml.converter import convert_to_element

from ecsel import Signomial
from ecsel.export import to_latex
from ecsel.export.latex_program import level_names
from ecsel.export.lowering import lower
from ecsel.signomial.latex import latex_name

RELATIONS = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    "≤": lambda a, b: a <= b,
    "≥": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
}
FUNCTIONS = {"exp": math.exp, "ln": math.log, "max": max, "min": min}
REFUSED, MISSING = "refused", None


def shown(nodes):
    """Return what the reader sees of nodes, as text that tells them from all others."""
    text = "".join(ET.tostring(node, encoding="unicode") for node in nodes)
    return re.sub(r"</?mrow>", "", text)


def read(source):
    """Return the nodes of a formula, without the rows around it."""
    tree = convert_to_element(source)
    for node in tree.iter():
        node.text = node.text and html.unescape(node.text)
    nodes = list(tree)
    while len(nodes) == 1 and nodes[0].tag == "mrow":
        nodes = list(nodes[0])
    return nodes


def split(nodes, is_mark):
    """Return the groups of nodes between marks."""
    groups = [[]]
    for node in nodes:
        if is_mark(node):
            groups.append([])
        else:
            groups[-1].append(node)
    return groups


def definitions(source):
    """Return the left and right sides of the lines of an aligned environment."""
    inner = source.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}")
    for line in split(read(inner), lambda node: node.tag == "mspace" and node.get("linebreak") == "newline"):
        left, right = split(line, lambda node: node.tag == "mi" and node.text == "&")
        assert right[0].text == "="
        yield left, right[1:]


@dataclass
class Reader:
    """Turns nodes into functions of the values of symbols, which are known by how they are shown.

    Levels tell, by symbol, what it may be equal to besides numbers.
    """

    symbols: set
    levels: dict = field(default_factory=dict)

    def value(self, nodes):
        """Return the function of an expression or a condition."""
        alternatives = split(nodes, lambda node: node.tag == "mo" and node.text == "∨")
        if len(alternatives) > 1:
            parts = [self.value(each) for each in alternatives]
            return lambda known: any(part(known) for part in parts)
        conditions = split(nodes, lambda node: node.tag == "mo" and node.text == "∧")
        if len(conditions) > 1:
            parts = [self.value(each) for each in conditions]
            return lambda known: all(part(known) for part in parts)
        if nodes[0].text == "¬":
            operand = self.value(nodes[1:])
            return lambda known: not operand(known)
        for place, node in enumerate(nodes):
            if node.tag == "mo" and node.text in RELATIONS:
                return self.comparison(nodes[:place], RELATIONS[node.text], nodes[place + 1 :])
        return self.sum(nodes)

    def comparison(self, left, relation, right):
        one = self.sum(left)
        if right[0].tag == "mtext" and right[0].text == "missing":
            return lambda known: one(known) is MISSING
        if shown(left) in self.levels:
            level = self.levels[shown(left)][shown(right)]
            return lambda known: one(known) is not MISSING and one(known) == level
        other = self.sum(right)
        return lambda known: relation(one(known), other(known))

    def sum(self, nodes):
        parts, sign = [], 1
        for node in nodes:
            if node.tag == "mo" and node.text in {"+", "−"}:
                sign = 1 if node.text == "+" else -1
                parts.append((sign, []))
            else:
                parts = parts or [(1, [])]
                parts[-1][1].append(node)
        products = [(sign, self.product(each)) for sign, each in parts]
        if products[0][0] == 1 and len(products) == 1:
            return products[0][1]
        return lambda known: math.fsum(sign * product(known) for sign, product in products)

    def product(self, nodes):
        factors = [
            self.factor(each) for each in split(nodes, lambda node: node.tag == "mo" and node.text in {"·", "×", "⋅"})
        ]
        return factors[0] if len(factors) == 1 else lambda known: math.prod(factor(known) for factor in factors)

    def factor(self, nodes):
        symbol = shown(nodes)
        if symbol in self.symbols:
            return lambda known: known[symbol]
        if len(nodes) == 2 and nodes[0].text in FUNCTIONS:
            function = FUNCTIONS[nodes[0].text]
            inside = split(list(nodes[1])[1:-1], lambda node: node.tag == "mo" and node.text == ",")
            arguments = [self.value(each) for each in inside]
            return lambda known: function(*(argument(known) for argument in arguments))
        (node,) = nodes
        return self.atom(node)

    def atom(self, node):
        if node.tag in {"mn", "mtext"} or node.text == "∞":
            constant = {"refused": REFUSED, "∞": math.inf}.get(node.text) or float(node.text)
            return lambda _: constant
        if node.tag in {"mfrac", "msup", "msqrt"}:
            parts = [self.value(list(part) if part.tag == "mrow" else [part]) for part in node]
            function = {"mfrac": operator.truediv, "msup": operator.pow, "msqrt": math.sqrt}[node.tag]
            return lambda known: function(*(part(known) for part in parts))
        assert node.tag == "mrow"
        children = list(node)
        if children[-1].tag == "mtable":
            return self.cases(children[-1], self.value)
        if children[0].text in {"|", "("}:
            inside = self.value(children[1:-1])
            return (lambda known: abs(inside(known))) if children[0].text == "|" else inside
        return self.value(children)

    def cases(self, table, meaning):
        """Return the function that gives the first value whose condition holds."""
        rows = [tuple(map(list, row)) for row in table]
        assert [condition[0].text.strip("\xa0 ") for _, condition in rows] == [*["if"] * (len(rows) - 1), "otherwise"]
        chosen = [(meaning(value), self.value(condition[1:])) for value, condition in rows[:-1]]
        last = meaning(rows[-1][0])
        return lambda known: next((value for value, holds in chosen if holds(known)), last)(known)


def by_look(names):
    """Return what names look like, which must differ."""
    seen = {shown(read(written)): value for value, written in names.items()}
    assert len(seen) == len(names)
    return seen


def answers(model, rows):
    """Return outputs and labels of all rows, None where they are refused."""
    program = lower(model)
    lines = list(definitions(to_latex(model, complete=True)))
    legend, steps = lines[: len(program.inputs)], lines[len(program.inputs) :]
    assert [shown(right) for _, right in legend] == [shown(read(latex_name(each.name))) for each in program.inputs]
    symbols = [shown(left) for left, _ in legend]
    levels = {
        symbol: by_look(level_names(each.known))
        for symbol, each in zip(symbols, program.inputs, strict=True)
        if each.levels is not None
    }
    classes = by_look(level_names(program.classes))
    reader = Reader(set(symbols), levels)

    def label(nodes):
        told = None if shown(nodes) == shown(read(r"\text{refused}")) else classes[shown(nodes)]
        return lambda _: told

    functions = {}
    for left, right in steps:
        is_label = shown(left) == shown(read(r"\mathrm{label}"))
        functions[shown(left)] = reader.cases(right[0][-1], label) if is_label else reader.value(right)
        assert shown(left) not in reader.symbols
        reader.symbols.add(shown(left))
    names = [rf"P\left({name}\right)" for name in level_names(program.classes).values()] or [r"\hat{y}"]
    outputs, labels = [], []
    for row in rows:
        values = [row[each.name] for each in program.inputs]
        known = dict(zip(symbols, [None if is_missing(value) else value for value in values], strict=True))
        for symbol, function in functions.items():
            known[symbol] = function(known)
        told = [known[shown(read(name))] for name in names]
        outputs.append(None if REFUSED in told else told)
        labels.append(known.get(shown(read(r"\mathrm{label}"))))
    return outputs, labels


def is_missing(value):
    return value is None or (isinstance(value, float) and math.isnan(value))


def test_equals_the_model_on_awkward_rows(case):
    case.assert_same(*answers(case.model, case.rows))


def check_names(hostile):
    p, labels = answers(hostile.view, hostile.rows)
    np.testing.assert_allclose(p, hostile.probabilities, rtol=1e-9)
    assert labels == hostile.labels


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_name_is_read(draw_hostile, data):
    check_names(draw_hostile(data))


def test_every_hostile_name_is_read(all_hostile):
    for hostile in all_hostile:
        check_names(hostile)


def test_lines_read_well():
    lines = to_latex(Signomial.parse("3*x**2/page"), complete=True).splitlines()
    assert lines[1:3] == [r"v_{0} &= \mathrm{page} \\", r"v_{1} &= x \\"]
    assert r"u_{0} &= \ln\left(\left|x_{0}\right|\right) \\" in lines
    sign = r"1 & \text{if } x_{0} > 0 \\ -1 & \text{if } x_{0} < 0 \\ 0 & \text{otherwise}"
    assert rf"s_{{0}} &= \begin{{cases}} {sign} \end{{cases}} \\" in lines
    assert r"e_{0} &= \max\left(\min\left(-1 \cdot u_{0} + 2 \cdot u_{1}, 700\right), -700\right) \\" in lines


def test_a_complete_formula_has_all_digits():
    with pytest.raises(ValueError, match="complete=True keeps all digits and reads no rows: leave out digits and X"):
        to_latex(Signomial.parse("x"), complete=True, digits=3)
