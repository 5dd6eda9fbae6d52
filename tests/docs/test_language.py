"""Names are those of the field: words that only the author could read do not come back."""

import io
import re
import tokenize
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "ecsel"
INSTEAD = {
    r"_?(MOST|LEAST)_[A-Z_]+": "MAX_ or MIN_",
    r"[a-z_]*wish(es)?|[A-Z]\w*Wishes": "options, or requested",
    r"[Tt]ariffs?|TARIFFS": "Penalty",
    r"players?|n_players": "feature_groups",
    r"[Ss]cout\w*": "profile",
    r"[Ss]urveys?": "importance sample",
    r"kicked|tempered|in_step": "perturbed, scaled_by_temperature, lockstep",
    r"Refusal|refusals": "CommandError, errors",
    r"second_look": "refine_selection",
    r"_?[Jj]udg(ed?|ing)": "validate, validated",
    r"_?Limits|_?curved": "Constraints, nonlinear",
    r"bends?|bent\w*|[A-Z_]*BENDS?": "curvature",
    r"held|told": "constrained, reported",
    r"doubts?|objections?|has_objection|BEYOND_DOUBT": "misfit",
    r"stands|[a-z_]+_stands": "is_accepted",
    r"valleys?|log_chart|charges?|drafts?|stor(y|ies)": "log_newton, log_coordinates, value, atomic_write, example",
}


def names_of(path):
    text = path.read_text(encoding="utf-8")
    return {
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.NAME
    }


@pytest.fixture(scope="module")
def names():
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 100
    found = {path.stem: {path.stem} for path in paths}
    for path in paths:
        found[path.stem] = found[path.stem] | names_of(path)
    return found


@pytest.mark.parametrize(("word", "instead"), INSTEAD.items(), ids=INSTEAD.values())
def test_a_private_word_has_a_common_one(names, word, instead):
    used = {(module, name) for module, own in names.items() for name in own if re.fullmatch(word, name)}
    assert not used, f"say {instead}"
