"""The picture of a report that the README and the index show: ``python docs/picture.py`` takes it anew.

It runs the example of loans and photographs the head of the page that the example writes.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from pathlib import Path

os.environ["MPLBACKEND"] = "agg"

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "_static" / "report.png"
WIDTH, HEIGHT = 1120, 1230
"""Pixels: a width at which the contents stand beside the page, and the height of its first two sections."""


def main() -> None:
    """Run the example, open its page and write the picture."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - a package of the tests

    sys.path.insert(0, str(ROOT / "examples"))
    page = runpy.run_path(str(ROOT / "examples" / "credit.py"))["page"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(Path(page).as_uri())
        tab.wait_for_selector("#live[data-drawn]")
        tab.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
