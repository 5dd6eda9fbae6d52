"""Reports with hostile names in Chromium: nothing runs but the report's own script, and nothing is asked for."""

from __future__ import annotations

import shutil
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ecsel import ECSELClassifier
from ecsel.report import render_report
from fuzz.attack import SERVED, UnavailableError
from fuzz.names import drawn_names, drawn_rows

if TYPE_CHECKING:
    import random
    from pathlib import Path

INJECTED = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
"""What stands in for a name that got through: the policy of the page must still stop it."""


class Reports:
    """A report on a model whose columns, levels and classes have hostile names, opened from disk."""

    name = "reports"

    def prepare(self, folder: Path) -> None:
        """Draw the rows."""
        self.browser = shutil.which("chromium")
        if self.browser is None:
            raise UnavailableError("chromium is not installed")
        self.path = folder / "report.html"
        self.rows, self.is_second = drawn_rows()

    def run(self, rng: random.Random) -> str:
        """Open one report as it is, and once more with a script inside that is not its own."""
        first, second, third, no, yes, one, other = drawn_names(rng, 7)
        X = pd.DataFrame(self.rows, columns=[first, second])
        X[third] = [one, other, one] * 20
        y = np.where(self.is_second, yes, no)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            html = render_report(ECSELClassifier(n_terms=2, l1=1e-3).fit(X, y), X, y)
        complaints, text, state = self._opened(html)
        if complaints or state != [2, True, 0]:
            raise AssertionError(f"the report said {complaints} and has {state}")
        if missing := [name for name in (first, second, yes) if not _is_shown(name, text)]:
            raise AssertionError(f"{missing} are not in the text")
        _, _, (_, is_clean, _) = self._opened(html.replace("</main>", f"{INJECTED}</main>", 1))
        if not is_clean:
            raise AssertionError("an injected script ran")
        return SERVED

    def _opened(self, html: str) -> tuple[list[str], str, list[Any]]:
        """Return what a page complains of, its text, and its scripts, whether it is clean and its foreign nodes."""
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - of the tests

        self.path.write_text(html, encoding="utf-8")
        complaints: list[str] = []
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=self.browser, args=["--no-sandbox"])
            page = browser.new_page()
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(dialog.message))
            page.on("request", lambda request: complaints.append(request.url))
            page.goto(self.path.as_uri())
            page.wait_for_selector("#live[data-drawn]")
            text = page.inner_text("body")
            state = page.evaluate(
                "() => [document.scripts.length, window.hacked === undefined, "
                "document.querySelectorAll('main img, main script:not([type]), iframe, object').length]"
            )
            browser.close()
        return [each for each in complaints if not each.startswith(("file:", "data:"))], text, state


def _is_shown(name: str, text: str) -> bool:
    """Whether a name is in a text, as it is or with its control characters spelled out."""
    return any("".join(form.split()) in "".join(text.split()) for form in (name, repr(name)[1:-1]))
