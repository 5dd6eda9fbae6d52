"""A small evaluator of PMML 4.4, written from the standard, for documents of one regression model.

It knows nothing of the library. As the strictest engines do, it refuses missing arguments of all functions but
`isMissing`; a condition that holds nowhere and a missing predictor give a missing result.
"""

import math
import xml.etree.ElementTree as ET

SPACE = "{http://www.dmg.org/PMML-4_4}"
FUNCTIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "min": min,
    "max": max,
    "abs": abs,
    "exp": math.exp,
    "ln": math.log,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "equal": lambda a, b: a == b,
    "lessThan": lambda a, b: a < b,
    "lessOrEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "greaterOrEqual": lambda a, b: a >= b,
    "and": lambda *parts: all(parts),
    "or": lambda *parts: any(parts),
    "not": lambda a: not a,
}
PARSERS = {"double": float, "integer": int, "string": str, "boolean": {"true": True, "false": False}.__getitem__}


def tag(element):
    return element.tag.removeprefix(SPACE)


class Evaluator:
    """A document; `evaluate` takes a row as a dict and returns the outputs as a dict, None where they are missing."""

    def __init__(self, document):
        root = ET.fromstring(document)
        assert root.tag == f"{SPACE}PMML"
        assert [tag(each) for each in root] == [
            "Header",
            "DataDictionary",
            "TransformationDictionary",
            "RegressionModel",
        ]
        self.types = {each.get("name"): each.get("dataType") for each in root.find(f"{SPACE}DataDictionary")}
        self.derived = list(root.find(f"{SPACE}TransformationDictionary"))
        self.model = root.find(f"{SPACE}RegressionModel")
        fields = self.model.find(f"{SPACE}MiningSchema")
        self.inputs = [each.get("name") for each in fields if each.get("usageType") != "target"]
        (self.target,) = [each.get("name") for each in fields if each.get("usageType") == "target"]
        names = [*self.types, *(each.get("name") for each in self.derived)]
        assert len(names) == len(set(names))
        self.output = self.model.find(f"{SPACE}Output")
        self.tables = self.model.findall(f"{SPACE}RegressionTable")

    def evaluate(self, row):
        known = {name: self.read(name, row[name]) for name in self.inputs}
        for each in self.derived:
            known[each.get("name")] = self.value(each[0], known)
        outputs = self.probabilities(known)
        answers = {}
        for each in self.output:
            feature = each.get("feature")
            if feature == "transformedValue":
                answers[each.get("name")] = self.value(each[0], known)
            elif feature == "probability":
                answers[each.get("name")] = outputs[each.get("value")]
            else:
                assert feature == "predictedValue"
                answers[each.get("name")] = outputs[None]
        return answers

    def read(self, name, value):
        if value is None or value != value:  # noqa: PLR0124 - NaN
            return None
        return float(value) if self.types[name] == "double" else value

    def value(self, element, known):
        kind = tag(element)
        if kind == "Constant":
            return None if element.get("missing") else PARSERS[element.get("dataType")](element.text or "")
        if kind == "FieldRef":
            return known[element.get("field")]
        if kind == "MapValues":
            return self.mapped(element, known)
        assert kind == "Apply", kind
        function = element.get("function")
        if function == "isMissing":
            return self.value(element[0], known) is None
        if function == "if":
            chosen = element[1:2] if self.present(element[0], known) else element[2:3]
            return self.value(chosen[0], known) if chosen else None
        return FUNCTIONS[function](*(self.present(each, known) for each in element))

    def present(self, element, known):
        value = self.value(element, known)
        assert value is not None, ET.tostring(element)
        return value

    def mapped(self, element, known):
        pair, table = element
        value = known[pair.get("field")]
        if value is None:
            return float(element.get("mapMissingTo"))
        for row in table:
            level, number = row
            assert tag(level) == pair.get("column")
            assert tag(number) == element.get("outputColumn")
            if (level.text or "") == value:
                return float(number.text)
        return float(element.get("defaultValue"))

    def probabilities(self, known):
        scores = {}
        for table in self.tables:
            parts = [known[each.get("name")] for each in table]
            total = None if None in parts else float(table.get("intercept")) + sum(parts)
            scores[table.get("targetCategory")] = total
        if None in scores.values():
            return dict.fromkeys(scores)
        method = self.model.get("normalizationMethod")
        if method is None:
            return scores
        if method == "logit":
            first, second = scores
            p = 1 / (1 + math.exp(min(-scores[first], 709.0)))
            return {first: p, second: 1 - p}
        assert method == "softmax"
        weights = {category: math.exp(max(score, -745.0)) for category, score in scores.items()}
        return {category: weight / sum(weights.values()) for category, weight in weights.items()}
