"""A share of the attacks, always the same; ``make fuzz`` runs as many as there is time for."""

import os
import random

import pytest

from fuzz.__main__ import ATTACKS
from fuzz.attack import UnavailableError, attack, refused
from fuzz.mutants import MUTANTS, ROOT

CASES = 60


@pytest.mark.parametrize("kind", ATTACKS, ids=lambda kind: kind.name)
def test_nothing_but_service_and_errors(tmp_path, kind):
    try:
        found = attack(kind(), tmp_path, random.Random(2), max(3, round(ATTACKS[kind] * CASES)))
    except UnavailableError as error:
        pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))
    assert not found.failures, found.failures[0]
    assert found.outcomes["served"]


def test_an_attack_notices_what_it_looks_for(tmp_path):
    class Broken:
        name = "broken"

        def prepare(self, folder):
            """Nothing is needed."""

        def run(self, rng):
            return refused("" if rng.random() < 0.5 else "no")

    found = attack(Broken(), tmp_path, random.Random(0), 40)
    assert len(found.failures) + found.outcomes["refused"] == 40
    assert found.failures


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.changed)
def test_the_named_mutants_still_have_their_lines_and_tests(mutant):
    assert (ROOT / "src" / "ecsel" / mutant.file).read_text(encoding="utf-8").count(mutant.line) == 1
    assert (ROOT / mutant.test).is_file()
