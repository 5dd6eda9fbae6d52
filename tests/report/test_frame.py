"""The report in a notebook: a frame in which everything works, and from which nothing gets out."""

import pytest
from sklearn.exceptions import NotFittedError

from ecsel import ECSELClassifier, ECSELRegressor
from ecsel.report import render_report

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def frame(named_case):
    case = named_case("loan")
    return case.model.report(case.X, case.y, title="Loans", height=700)


def test_the_frame_holds_the_report(named_case, frame, tmp_path):
    case = named_case("loan")
    assert frame.html == render_report(case.model, case.X, case.y, title="Loans")
    frame.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == frame.html
    assert f"{len(frame.html.encode()) / 1000:.0f} kB" in repr(frame)
    assert 'height="700"' in frame._repr_html_()


@pytest.mark.parametrize("estimator", [ECSELClassifier(), ECSELRegressor()])
def test_before_the_fit_there_is_none(estimator):
    with pytest.raises(NotFittedError):
        estimator.report([[1.0]], [1.0])


def test_what_if_and_links_work_inside_of_the_frame(frame, browser, tmp_path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><h1>A cell</h1>{frame._repr_html_()}", encoding="utf-8")
    complaints = []
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(notebook.as_uri())
    inside = page.frame_locator("iframe")
    inside.locator("#live[data-drawn]").wait_for()
    before = inside.locator("#live").get_attribute("data-drawn")
    inside.locator("#next-row").click()
    inside.locator(f"#live:not([data-drawn='{before}'])").wait_for()
    inside.locator("nav a[href='#quality']").first.click()
    page.frames[1].wait_for_function(
        "() => Math.abs(document.getElementById('quality').getBoundingClientRect().top) < 200"
    )
    assert page.url == notebook.as_uri()
    with pytest.raises(Exception, match=r"cross-origin|Blocked a frame|SecurityError"):
        page.frames[1].evaluate("() => window.parent.document.title")
    page.close()
    assert complaints == []
