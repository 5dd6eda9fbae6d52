"""The map of CONTRIBUTING is true; `tests/extension` holds what it says of additions."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_room_has_a_line():
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Where to add what")[0]
    rooms = {path.parent.name for path in (ROOT / "src" / "ecsel").glob("*/__init__.py")}
    assert set(re.findall(r"`(\w+)/`", table)) - {"benchmarks", "examples", "fuzz"} == rooms
