"""What the code in the documents prints: ``python docs/outputs.py`` writes it there, and a test holds it there.

A block of ``python`` that a block of ``text`` follows has printed that text. Between ``<!-- by hand: model, rows -->``
and ``<!-- end -->`` stands the first of the rows, worked out piece by piece: each coefficient times its value, their
sum, and the probability. The blocks of a document run one after the other, as one script. A document that begins with
``<!-- needs: package … -->`` runs where these packages are, which ``make integrations`` sees to.
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
import warnings
from contextlib import chdir, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ecsel.estimators.odds import odds_phrases
from ecsel.report.worked import worked_example
from ecsel.signomial.text import print_name, print_shift, print_term

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ecsel.report.worked import WorkedPiece

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
PART = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?"
    r"|^<!-- by hand: (?P<row>[^\n]*) -->\n(?P<table>.*?)^<!-- end -->\n",
    re.MULTILINE | re.DOTALL,
)


NEEDS = re.compile(r"\A<!-- needs: (.*) -->\n")


def needed(document: str) -> list[str]:
    """Return the packages that a document needs beside those of the tests."""
    found = NEEDS.match(document)
    return found[1].split() if found else []


def with_outputs(document: str, name: str) -> str:
    """Run the code of a document and return the document with what the code prints."""
    namespace: dict[str, Any] = {"__name__": "document"}

    def replace(part: re.Match[str]) -> str:
        if part["row"] is not None:
            table = by_hand(*eval(part["row"], namespace))  # noqa: S307 - the documents are our own
            return f"<!-- by hand: {part['row']} -->\n{table}\n<!-- end -->\n"
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(part["code"], name, "exec"), namespace)  # noqa: S102
        block = f"```python\n{part['code']}```\n"
        return block if part["output"] is None else f"{block}\n```text\n{printed.getvalue().rstrip()}\n```\n"

    with tempfile.TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # held-out rows may lie outside the training range
        return PART.sub(replace, document)


def by_hand(model: Any, rows: Any) -> str:
    """Return the first row of a model of two classes as a table in Markdown, from its pieces to the probability."""
    example = worked_example(model, rows)
    (score,) = example.scores
    read = dict(zip(model.encoder_.feature_names, model.to_model_features(rows)[0].tolist(), strict=True))
    lines = ["| piece | what it does to the odds | in this row | adds |", "|---|---|---|---|"]
    for piece in score.pieces:
        says = "; ".join(odds_phrases(piece.term, model.encoder_)) if piece.text else ""
        product = f"{piece.coefficient_text} × {_with_numbers(piece, read)}" if piece.text else ""
        lines.append(f"| {_code(print_term(piece.term))} | {says} | {product} | {piece.product_text} |")
    label, probability = example.outcomes[1]
    minus = score.total_text[1:] if score.total_text.startswith("-") else f"-{score.total_text}"
    lines.append(f"| **sum** | the logarithm of the odds | | **{score.total_text}** |")
    lines += ["", f"Probability of {label}: 1 / (1 + exp({minus})) = **{probability:.4f}**."]
    return "\n".join(lines)


def _code(text: str) -> str:
    """Return text as code in Markdown, in which backticks of its own are kept."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _with_numbers(piece: WorkedPiece, read: Mapping[str, float]) -> str:
    """Return a piece with the numbers of a row in the place of its names."""
    text = piece.text
    for factor in piece.term.factors:
        number = print_shift(read[factor.name])
        text = re.sub(rf"(?<!\w){re.escape(print_name(factor.name))}(?!\w)", number, text)
    return text


def main() -> None:
    """Write the outputs of all documents."""
    os.environ["MPLBACKEND"] = "Agg"
    for page in sys.argv[1:] or PAGES:
        path = ROOT / page
        document = path.read_text(encoding="utf-8")
        if all(find_spec(package) for package in needed(document)):
            path.write_text(with_outputs(document, page), encoding="utf-8")


if __name__ == "__main__":
    main()
