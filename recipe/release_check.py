"""Whether a tag may be released: ``make release-check TAG=v0.2.0``, which the release workflow runs first.

Without a tag it is asked of that of the version.
"""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def objections(tag: str, version: str, changelog: str) -> list[str]:
    """Return what speaks against releasing a version under a tag; nothing where all is well.

    >>> objections("v0.2.0", "0.2.0", "## [0.2.0] – 2026-11-20")
    []
    >>> objections("v0.3.0", "0.2.0", "## [0.2.0] – unreleased")
    ["the tag 'v0.3.0' is not the version: v0.2.0", 'the section [0.2.0] of CHANGELOG.md has no date']
    """
    found = []
    if tag != f"v{version}":
        found.append(f"the tag {tag!r} is not the version: v{version}")
    section = re.search(rf"^## \[{re.escape(version)}\] – (.*)$", changelog, re.MULTILINE)
    try:
        date.fromisoformat(section[1] if section else "")
    except ValueError:
        found.append(f"the section [{version}] of CHANGELOG.md has no date")
    return found


def main() -> int:
    """Say what speaks against it."""
    source = (ROOT / "src" / "ecsel" / "_version.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "(.*)"', source)
    if version is None:
        raise SystemExit("src/ecsel/_version.py has no version")
    (tag,) = sys.argv[1:] or [f"v{version[1]}"]
    found = objections(tag, version[1], (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    sys.stdout.write("".join(f"{each}\n" for each in found) or f"{tag} may be released\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
