"""The headings of Annex IV: nine of them, true where they are filled, and marked where only people can fill them."""

import re

import numpy as np
import pytest

from ecsel import scorecard
from ecsel.report import render_report
from ecsel.report.annex import OPEN, SECTIONS, TITLES


def rendered(case, **options):
    return render_report(case.model, case.X, case.y, **{**case.options, **options})


def test_nine_headings_in_their_order(churn_case):
    html = rendered(churn_case, annex_iv=True)
    assert re.findall(r"<h3>(\d)\. (.+?)</h3>", html) == [(str(k), title) for k, title in enumerate(TITLES, start=1)]
    assert len(TITLES) == len(OPEN) == 9
    assert html.count("To be written:") == sum(map(len, OPEN)) + 2  # neither a purpose nor a group was given
    assert 'href="#annex"' in html
    assert "Annex IV" not in rendered(churn_case)


def test_the_headings_are_those_of_the_regulation():
    """Regulation (EU) 2024/1689, Annex IV, points 1 to 9: what each is about, by its own words."""
    asked = (
        ("general description of the AI system",),
        ("detailed description of the elements of the AI system", "process for its development"),
        ("monitoring, functioning and control of the AI system",),
        ("appropriateness of the performance metrics for the specific AI system",),
        ("risk management system in accordance with Article 9",),
        ("relevant changes made by the provider to the system through its lifecycle",),
        ("list of the harmonised standards applied in full or in part",),
        ("copy of the EU declaration of conformity referred to in Article 47",),
        ("evaluate", "performance", "in the post-market phase in accordance with Article 72"),
    )
    for title, words in zip(TITLES, asked, strict=True):
        for word in words:
            assert word.lower() in title.lower()


def test_every_section_that_is_named_is_there(loan_case):
    html = rendered(loan_case, annex_iv=True)
    named = re.findall(r'\(see <a href="#(\w+)">(.+?)</a>\)', html)
    assert {section for section, _ in named} == set(SECTIONS)
    for section, heading in named:
        assert re.search(rf'<h2 id="{section}-heading">{heading}', html), section


def test_own_words_close_a_point(churn_case):
    html = rendered(churn_case, annex_iv={5: "See <the> risk file."}, purpose="Whom to call.")
    fifth = html.split("<h3>5. ")[1].split("</div>")[0]
    assert "See &lt;the&gt; risk file." in fifth
    assert "To be written" not in fifth
    assert "intended purpose: Whom to call." in html
    with pytest.raises(ValueError, match="points 1 to 9"):
        rendered(churn_case, annex_iv={10: "?"})


def test_the_figures_are_those_of_the_report(churn_case):
    html = rendered(churn_case, annex_iv=True)
    reported = html.split("<h3>4. ")[1].split("</li>")[0]
    names = re.findall(r"<dt>(.+?)</dt><dd class=\"value\">(.+?)</dd>", html.split('id="quality"')[1])
    assert names
    for name, value in names[:5]:
        assert f"{name} {value}" in reported


def test_the_card_on_the_page_is_the_scorecard(churn_case):
    card = scorecard(churn_case.model, toward="stays", decimals=0)
    html = rendered(churn_case, points=card)
    table = html.split("<h3>As points</h3>")[1].split("</table>")[0]
    lines = re.findall(r'<th scope="row">(.*?)</th><td data-label="points">(.*?)</td>', table)
    assert len(lines) == len(card.lines)
    for (says, points), line in zip(lines, card.lines, strict=True):
        value, _, times = points.replace("−", "-").partition(" × ")
        assert float(value) == line.points
        assert times == line.times.replace("`", "")
        assert says == (line.column if line.times else line.says).replace("`", "").replace("'", "&#39;")
    assert f"{card.max_difference(churn_case.X):.2g}" in html
    assert "As points" not in rendered(churn_case)


def test_the_printed_limit_of_whole_points_decides_as_the_card_does(churn_case):
    for label in ("leaves", "stays"):
        card = scorecard(churn_case.model, toward=label, decimals=0)
        reported = rendered(churn_case, points=card).split("<h3>As points</h3>")[1]
        second, sign, limit, first = re.search(
            r"the label is (\w+) where points (.) (\d+), else (\w+)", reported
        ).groups()
        total = card.points(churn_case.X)
        holds = total >= int(limit) if sign == "≥" else total <= int(limit)
        by_probability = card.predict_proba(churn_case.X)[:, 1] >= churn_case.model.threshold_
        assert (first, second) == tuple(churn_case.model.classes_)
        np.testing.assert_array_equal(holds, by_probability)


def test_points_of_another_model_are_refused(churn_case, named_case):
    with pytest.raises(ValueError, match="scorecard of the reported model"):
        rendered(churn_case, points=scorecard(named_case("blooms").model))
