"""The page in a real browser: what it computes is what Python computes, by hand, by mouse and by keyboard."""

import functools
import json
import urllib.parse

import numpy as np
import pandas as pd
import pytest
from scipy import special

from ecsel import ECSELClassifier, explain
from ecsel.explain.baseline import resolve_baseline
from ecsel.explain.shapley import score_shapley
from ecsel.report import render_report, script
from ecsel.report.controls import controls

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # values beyond the training range are part of the test

READ = """() => ({
  state: JSON.parse(document.getElementById("live").dataset.drawn),
  shown: [...document.querySelectorAll("#controls .control")].map((box) => JSON.parse(box.dataset.value)),
  probabilities: [...document.querySelectorAll("#probabilities li")].map((li) => Number(li.dataset.probability)),
  decided: Number(document.getElementById("outcome").dataset.decided),
  prediction: Number(document.getElementById("outcome").dataset.prediction),
  margin: Number(document.getElementById("margin").dataset.margin),
  adds: [...document.querySelectorAll("#waterfall td[data-column]")].map((td) =>
    [Number(td.dataset.column), Number(td.dataset.adds)]),
  changes: [...document.querySelectorAll("#changes li[data-column]")].map((li) =>
    [Number(li.dataset.column), JSON.parse(li.dataset.value)]),
})"""

TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

VISIT = (
    """async (states) => {
  const read = """
    + READ
    + """;
  const found = [];
  for (const state of states) {
    const wanted = JSON.stringify(state);
    location.hash = "#what-if=" + encodeURIComponent(wanted);
    for (let wait = 0; wait < 100 && document.getElementById("live").dataset.drawn !== wanted; wait++)
      await new Promise(requestAnimationFrame);
    found.push(read());
  }
  return found;
}"""
)


@functools.cache
def described(case):
    fixed = {*case.options.get("immutable", ()), *([g] if isinstance(g := case.options.get("group"), str) else [])}
    return controls(case.evidence, fixed)


def random_state(case, rng):
    """A value for every control: anywhere in the range and a little beyond, any level, a missing one."""
    state = []
    for control in described(case):
        if control["missing"] and rng.random() < 0.15:
            state.append(None)
        elif "levels" in control:
            state.append(-2 if control["open"] and rng.random() < 0.1 else int(rng.integers(len(control["levels"]))))
        else:
            beyond = 0.1 * (control["high"] - control["low"]) if case.evidence.view.has_classes else 0.0
            state.append(float(rng.uniform(control["low"] - beyond, control["high"] + beyond)))
    return state


def table_of(case, states):
    """The states as rows for Python; columns without a control are as in the first row."""
    rows = pd.concat([case.X_test.head(1)] * len(states), ignore_index=True)
    for i, control in enumerate(described(case)):
        levels = case.evidence.view.levels(case.evidence.view.column_position(control["name"]))
        values = [state[i] for state in states]
        if levels is not None:
            values = [None if v is None else "never seen" if v == -2 else levels[v] for v in values]
            rows[control["name"]] = pd.Series(values, dtype=object)
        else:
            rows[control["name"]] = pd.Series(values, dtype=float)
    return rows


def test_random_states_are_what_python_says(case, open_page):
    rng = np.random.default_rng(5)
    states = [random_state(case, rng) for _ in range(40)]
    page = open_page(case.html)
    reported = page.evaluate(VISIT, states)
    assert [each["state"] for each in reported] == states
    X, view = table_of(case, states), case.evidence.view
    expected = view.probabilities(X)
    if not view.has_classes:
        np.testing.assert_allclose([each["prediction"] for each in reported], expected[:, 0], rtol=1e-9)
        start = resolve_baseline(view, case.X, case.evidence.baseline).point
        values = score_shapley(view, view.rows(X), start)[:, 0]
    else:
        np.testing.assert_allclose([each["probabilities"] for each in reported], expected, rtol=1e-9, atol=1e-12)
        decided = case.model.predict(X).tolist()
        assert [view.classes[each["decided"]] for each in reported] == decided
        two = len(view.classes) == 2
        values = np.asarray(explain.reasons(view, X, toward=view.classes[1] if two else None).values)
        z = case.model.decision_function(X)
        margins = z - special.logit(view.threshold) if two else np.diff(np.sort(z, axis=1)[:, -2:])[:, 0]
        np.testing.assert_allclose([each["margin"] for each in reported], margins, rtol=1e-8, atol=1e-9)
    names = [control["name"] for control in described(case)]
    for each, row in zip(reported, values, strict=True):
        for column, adds in each["adds"]:
            expected_value = row[view.column_position(names[column])]
            assert adds == pytest.approx(expected_value, rel=1e-8, abs=1e-9 * np.abs(row).max())


def test_first_order_contributions_come_with_their_remainder(loan_case, open_page, monkeypatch):
    monkeypatch.setattr(script, "MAX_FACTORS", 0)
    page = open_page(render_report(loan_case.model, loan_case.X, loan_case.y))
    adds = [float(cell.get_attribute("data-adds")) for cell in page.query_selector_all("#waterfall td[data-adds]")]
    row = page.evaluate(READ)["state"]
    score = loan_case.model.decision_function(table_of(loan_case, [row]))[0]
    assert adds[-1] == pytest.approx(score, rel=1e-9)
    assert sum(adds[:-1]) == pytest.approx(score, rel=1e-9)
    assert "together (not first order)" in page.inner_text("#waterfall")
    reported = np.asarray(explain.attribution(loan_case.model, table_of(loan_case, [row]), units="raw").values)
    names = [control["name"] for control in described(loan_case)]
    for column, value in page.evaluate(READ)["adds"]:
        j = loan_case.evidence.view.column_position(names[column])
        assert value == pytest.approx(reported[0, 0, j], rel=1e-8, abs=1e-10)


def test_suggested_changes_flip_the_decision_and_are_the_nearest(class_case, open_page):
    case = class_case
    rng = np.random.default_rng(6)
    page = open_page(case.html)
    states = [[c["low"] + (c["high"] - c["low"]) * rng.random() if "low" in c else 0 for c in described(case)]]
    states += [json.loads(page.evaluate("() => document.getElementById('live').dataset.drawn"))]
    names = [control["name"] for control in described(case)]
    n_changes = 0
    for state, reported in zip(states, page.evaluate(VISIT, states), strict=True):
        before = table_of(case, [state])
        for column, value in reported["changes"]:
            after = table_of(case, [[value if i == column else v for i, v in enumerate(state)]])
            assert case.model.predict(after)[0] != case.model.predict(before)[0]
            control = described(case)[column]
            assert not control["fixed"]
            if "low" not in control:
                continue
            n_changes += 1
            assert control["low"] <= value <= control["high"]
            if control["unit"]:  # a number that the column can hold
                steps = (value - control["origin"]) / control["unit"]
                assert steps == pytest.approx(round(steps), abs=1e-6)
            best = explain.counterfactual(
                case.model,
                before,
                immutable=[name for name in case.X.columns if name != names[column]],
                data=case.X,
                integers=[names[column]] if control["whole"] else [],
            )
            distance = abs(value - state[column]) / control["deviation"]
            assert distance <= min(b.distance for b in best) * 1.011 + 1e-6 + (1 if control["whole"] else 0)
    assert n_changes > 0


def test_changes_of_a_regression_reach_the_value(law_case, open_page):
    page = open_page(law_case.html)
    goal = page.evaluate(READ)["prediction"] + 2
    page.fill("#goal", str(goal))
    page.wait_for_function("() => document.getElementById('margin').dataset.margin === '-2'")
    reported = page.evaluate(READ)
    assert reported["changes"]
    for column, value in reported["changes"]:
        after = [value if i == column else v for i, v in enumerate(reported["state"])]
        assert law_case.model.predict(table_of(law_case, [after]))[0] >= goal - 1e-9


def value_of(page, column):
    page.evaluate("() => new Promise(requestAnimationFrame)")
    return json.loads(page.get_attribute(f"#controls .control:nth-child({column + 1})", "data-value"))


def assert_shown(case, page):
    """What the page shows is what Python says of the values that its controls show."""
    reported = page.evaluate(f"() => {TWO_FRAMES}.then({READ})")
    assert reported["shown"] == reported["state"]
    expected = case.evidence.view.probabilities(table_of(case, [reported["shown"]]))[0]
    np.testing.assert_allclose(reported["probabilities"] or [reported["prediction"]], expected, rtol=1e-9, atol=1e-12)


def test_keyboard_alone_moves_everything(loan_case, open_page):
    page = open_page(loan_case.html)
    names = [control["name"] for control in described(loan_case)]
    page.focus("#previous-row")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.id") == "next-row"
    page.keyboard.press("Enter")
    assert_shown(loan_case, page)
    income, city = names.index("income"), names.index("city")
    before = value_of(page, income)
    page.focus(f"#slider-{income}")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        assert_shown(loan_case, page)
    assert value_of(page, income) > before
    page.keyboard.press("End")
    assert value_of(page, income) == described(loan_case)[income]["high"]
    page.keyboard.press("Home")
    assert value_of(page, income) == described(loan_case)[income]["low"]
    page.focus(f"#control-{city}")
    for key in ("Home", "ArrowDown", "End"):
        page.keyboard.press(key)
        assert_shown(loan_case, page)
    assert value_of(page, city) == -2  # the last option: a level that was not seen in training
    page.focus(f"#control-{income}")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("12345.678")
    assert value_of(page, income) == 12345.678
    assert_shown(loan_case, page)


def test_mouse_drags_sliders(case, open_page):
    page = open_page(case.html)
    sliders = page.query_selector_all("#controls input[type=range]")
    for slider, share in zip(sliders, (0.9, 0.1, 0.6, 0.3, 0.75, 0.2), strict=False):
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2, steps=4)
        page.mouse.up()
        assert_shown(case, page)


def test_a_missing_value_is_ticked(loan_case, open_page):
    page = open_page(loan_case.html)
    column = [control["name"] for control in described(loan_case)].index("years")
    page.check(f"#controls .control:nth-child({column + 1}) input[type=checkbox]")
    assert value_of(page, column) is None
    assert_shown(loan_case, page)


def test_every_row_of_the_sample_can_be_picked(loan_case, open_page):
    page = open_page(loan_case.html)
    p = loan_case.model.predict_proba(loan_case.X_test)
    for row in (0, 17, len(p) - 1):
        page.fill("#row", str(row + 1))
        page.press("#row", "Enter")
        assert_shown(loan_case, page)
        np.testing.assert_allclose(page.evaluate(READ)["probabilities"], p[row], rtol=1e-9)
        assert f"row {loan_case.X_test.index[row]}," in page.inner_text("#row-note")
    page.click("#examples article:nth-child(2) button")
    assert_shown(loan_case, page)


def test_an_applied_change_becomes_the_state(loan_case, open_page):
    page = open_page(loan_case.html)
    before = page.evaluate(READ)
    page.click("#changes button")
    assert_shown(loan_case, page)
    after = page.evaluate(READ)
    assert after["decided"] != before["decided"]
    page.click("#reset")
    assert_shown(loan_case, page)
    assert page.evaluate(READ)["state"] == before["state"]


def test_a_state_is_shared_by_the_address(loan_case, open_page):
    state = random_state(loan_case, np.random.default_rng(8))
    page = open_page(loan_case.html, "#what-if=" + urllib.parse.quote(json.dumps(state)))
    assert page.evaluate(READ)["state"] == state
    link = page.input_value("#link")
    page.focus("#slider-0")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(old) => document.getElementById('link').value !== old", arg=link)
    page.wait_for_function("() => location.href === document.getElementById('link').value")
    assert page.url != link
    again = json.loads(urllib.parse.unquote(page.url.split("#what-if=")[1]))
    assert again[1:] == state[1:]


def test_a_broken_address_is_not_taken(loan_case, open_page):
    page = open_page(loan_case.html)
    state = page.evaluate(READ)["state"]
    for fragment in ("", "%", "[1]", "{}", "null", json.dumps(["a"] * len(state)), json.dumps([None] * len(state))):
        page.evaluate("(fragment) => { location.hash = '#what-if=' + fragment; }", fragment)
        page.wait_for_timeout(20)
        assert page.evaluate(READ)["state"] == state


def test_thresholds_count_decisions(loan_case, open_page):
    page = open_page(loan_case.html)
    p = loan_case.model.predict_proba(loan_case.X_test)[:, 1]
    truth = (loan_case.y_test == "repaid").to_numpy()
    page.fill("#cost-01", "3")
    own = page.inner_text("#threshold > p:first-of-type")
    page.focus("#threshold-slider")
    for key in ("Home", "ArrowRight", "PageUp", "PageUp", "ArrowLeft", "End"):
        page.keyboard.press(key)
        page.evaluate(f"() => {TWO_FRAMES}")
        threshold = float(page.get_attribute("#threshold-value", "data-threshold"))
        decided = p >= threshold
        cells = [int(page.inner_text(f"#cell-{i}{j}")) for i in (0, 1) for j in (0, 1)]
        expected = [int(((truth == bool(i)) & (decided == bool(j))).sum()) for i in (0, 1) for j in (0, 1)]
        assert cells == expected
        cost = float(page.get_attribute("#threshold-cost", "data-cost"))
        assert cost == pytest.approx((3 * cells[1] + cells[2]) / len(p))
    # what the model itself decides by stays as it is, whatever the slider shows
    assert "The model decides for" in own
    assert "from a probability of 0.35 on" in own
    assert page.inner_text("#threshold > p:first-of-type") == own
    page.click("#threshold-own")
    page.wait_for_function("() => document.getElementById('threshold-value').dataset.threshold === '0.35'")


def test_a_model_of_a_constant_has_nothing_to_move(loan_case, open_page):
    X, y = loan_case.X[["income", "age"]], loan_case.y
    model = ECSELClassifier(n_terms=1, l1=10.0).fit(X, y)
    page = open_page(render_report(model, X, y))
    reported = page.evaluate(READ)
    np.testing.assert_allclose(reported["probabilities"], model.predict_proba(X.head(1))[0], rtol=1e-9)
    assert reported["state"] == []
    assert "no column changes it" in page.inner_text("#controls")


def test_hostile_names_are_text(hostile_case, open_page):
    page = open_page(hostile_case.html)
    text = page.inner_text("body")
    for name in ("</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "{{ 7*7 }}"):
        assert name in text
    for label in ("<b>bold</b>", "</style><script>window.hacked=1</script>", "__proto__"):
        assert label in text
    assert page.evaluate("() => window.hacked") is None
    assert page.query_selector("main img, main b, main i") is None
    assert page.evaluate("() => document.scripts.length") == 2


CONTRAST = """() => {
  const parse = (text) => {
    const numbers = text.match(/[\\d.]+/g).map(Number);
    const [r, g, b] = text.startsWith("color(") ? numbers.slice(0, 3).map((n) => 255 * n) : numbers;
    return [r, g, b, numbers.length > 3 ? numbers[3] : 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]).concat(1);
  const background = (element) => {
    if (element === null) return [255, 255, 255, 1];
    const own = parse(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, background(element.parentElement));
  };
  const light = (c) => c.slice(0, 3).map((n) => n / 255)
    .map((n) => (n <= 0.03928 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4))
    .reduce((so, n, i) => so + n * [0.2126, 0.7152, 0.0722][i], 0);
  let worst = [99, ""];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("script, style, svg")) continue;
    const [a, b] = [parse(getComputedStyle(element).color), background(element)].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.outerHTML.slice(0, 120)];
  }
  return worst;
}"""


def test_light_and_dark_can_be_read(loan_case, open_page):
    papers = []
    for scheme in ("light", "dark"):
        page = open_page(loan_case.html, color_scheme=scheme)
        ratio, where = page.evaluate(CONTRAST)
        assert ratio >= 4.5, where
        papers.append(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
    assert papers[0] != papers[1]


def test_a_telephone_needs_no_sideways_scrolling(case, open_page):
    page = open_page(case.html)
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width


CUT = """() => {
  const edge = document.documentElement.clientWidth + 1;
  const beyond = [...document.querySelectorAll("main *, header *")].filter((element) => element.checkVisibility()
    && !element.closest(".wide, script, style, svg, math") && element.getBoundingClientRect().right > edge);
  const scrolled = [...document.querySelectorAll(".wide, .equation")].filter((element) => element.checkVisibility()
    && element.scrollWidth > element.clientWidth + 1);
  return [beyond, scrolled].map((found) => found.map((element) => element.outerHTML.slice(0, 160)));
}"""


BROKEN_WORDS = """() => {
  const found = [];
  for (const cell of document.querySelectorAll("th, #probabilities li > :first-child, h3, .control label")) {
    if (!cell.checkVisibility()) continue;
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      for (const word of text.data.matchAll(/[\\p{L}\\d]{2,24}/gu)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(word[0]);
      }
    }
  }
  return found;
}"""


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("name", ["loan", "churn", "blooms", "house"])
def test_nothing_is_cut_at_any_width(name, width, named_case, open_page):
    page = open_page(named_case(name).html)
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    beyond, scrolled = page.evaluate(CUT)
    assert beyond == []
    assert scrolled == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert page.evaluate(BROKEN_WORDS) == []


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_long_names_of_classes_and_columns_are_not_cut(width, open_page):
    """As in a table of loans: classes in sentences, and quotients of columns with long names."""
    rng = np.random.default_rng(11)
    n = 400
    X = pd.DataFrame(
        {"opened (days since 2007-01-01)": rng.integers(1, 2000, n), "inquiries_last_6_months": rng.integers(0, 9, n)}
    )
    classes = ["Fully Paid", "Does not meet the credit policy. Status:Charged Off", "Charged Off"]
    steps = X.iloc[:, 0] / 400 - X.iloc[:, 1] / 3 + rng.normal(0, 0.5, n)
    y = np.array(classes)[np.digitize(steps, [0.0, 2.0])]
    model = ECSELClassifier(max_factors=4, cv=3).fit(X, y)
    page = open_page(render_report(model, X, y))
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    beyond, scrolled = page.evaluate(CUT)
    assert beyond == []
    assert scrolled == []
    assert page.evaluate(BROKEN_WORDS) == []


def test_charts_can_be_read_on_a_telephone(churn_case, open_page):
    page = open_page(churn_case.html)
    page.set_viewport_size({"width": 360, "height": 900})
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("svg.chart text")].filter((text) => text.checkVisibility())
          .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a).filter((size) => size)"""
    )
    assert len(sizes) > 20
    assert min(sizes) > 8  # pixels


def test_everything_that_can_be_touched_has_a_name(case, open_page):
    page = open_page(case.html)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, [tabindex]")].filter((element) =>
          !(element.labels?.length || element.getAttribute("aria-label") || element.textContent.trim()))
          .map((element) => element.outerHTML)"""
    )
    assert nameless == []
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert len(ids) == len(set(ids))


def test_paper_shows_everything_but_the_controls(loan_case, open_page):
    page = open_page(loan_case.html)
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("() => document.querySelectorAll('details:not([open])').length") == 0
    assert page.is_visible("#card")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for hidden in ("#what-if", "nav", "#print", "#threshold-slider", "#threshold-cost"):  # costs that nobody can see
        assert not page.is_visible(hidden)
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("() => document.querySelectorAll('details:not([open])').length") > 0


def test_the_page_reads_without_scripts(loan_case, browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(loan_case.html, encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert "This part needs scripts" in page.inner_text("#what-if")
    assert page.inner_text("#cell-11").isdigit()
    context.close()
