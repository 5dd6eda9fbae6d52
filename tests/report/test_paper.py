"""The page on paper: no heading at the foot of a sheet without what it announces, and no sheet that is nearly empty."""

import re
import zlib

import pytest

OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)\nendobj", re.DOTALL)
PLACED = re.compile(rb"/F\d+ (?P<size>[\d.]+) Tf\n1 0 0 -1 (?P<x>[-\d.]+) (?P<y>[-\d.]+) Tm")
CLIP = re.compile(rb"^[\d.]+ [\d.]+ [\d.]+ (?P<height>[\d.]+) re\nW\* n$", re.MULTILINE)
SCALE = 3.125
"""Chromium's unit is a CSS pixel, its clip is in three hundredths of an inch."""
HEADINGS = {16.79, 12.24}
"""Font sizes of h2 and h3 on paper, which stand at the left edge: 1.4 and 1.02 times 12 pixels."""


def sheets(pdf):
    """Return for every sheet its height and the texts on it as (y, x, font size), in pixels from its upper edge."""
    objects = {int(found[1]): found[2] for found in OBJECT.finditer(pdf)}
    bodies = [body for body in objects.values() if re.search(rb"/Type /Page\b(?!s)", body)]
    for k, body in enumerate(bodies):
        stream = objects[int(re.search(rb"/Contents (\d+) 0 R", body)[1])]
        drawn = zlib.decompress(stream[stream.index(b"stream\n") + 7 : stream.rindex(b"endstream")])
        height = float(CLIP.search(drawn)["height"]) / SCALE
        # y runs on from sheet to sheet; texts inside of pictures have an origin of their own, above the sheet
        texts = [
            (float(text["y"]) - k * height, float(text["x"]), float(text["size"])) for text in PLACED.finditer(drawn)
        ]
        yield height, [text for text in texts if text[0] <= height]


@pytest.mark.parametrize("name", ["loan", "churn", "blooms", "house"])
def test_headings_stay_with_what_they_announce_and_sheets_are_full(name, named_case, open_page):
    page = open_page(named_case(name).html)
    found = list(sheets(page.pdf(prefer_css_page_size=True, print_background=True)))
    assert len(found) >= 4
    sizes = {round(size, 2) for _, texts in found for _, x, size in texts if x == 0}
    assert sizes >= HEADINGS  # else the sheets were not read
    for k, (height, texts) in enumerate(found[:-1], start=1):
        lowest, x, size = max(texts)
        assert x > 0 or round(size, 2) not in HEADINGS, f"sheet {k} ends with a heading"
        assert lowest > 0.4 * height, f"sheet {k} is nearly empty"
