import io

import numpy as np
import pytest

from ecsel import Signomial, explain, plotting
from ecsel.plotting.screening import PROFILES, screening_model


def drawn(result):
    """Render to PNG, which fails on text that cannot be drawn, and return the figure."""
    figure = getattr(result, "figure", result)
    figure.savefig(io.BytesIO(), format="png", dpi=50)
    return figure


def texts(axes):
    return {text.get_text() for text in axes.texts}


def test_the_screening_figure_shows_the_worked_numbers():
    figure = drawn(plotting.plot_screening())
    a, b, c, d, right = figure.axes
    values = explain.elasticity(screening_model(), np.array(list(PROFILES.values()))).values[:, 1]
    np.testing.assert_allclose([bar.get_height() for bar in a.patches], values.T.ravel())
    margins = [bar.get_height() for bar in c.patches]
    np.testing.assert_allclose(margins, [-1.952, 1.557, 7.132, 5.370], atol=5e-4)
    assert {"0.124", "0.826", "0.999", "0.995"} <= texts(right)
    assert {"+0.377", "+0.303", "+0.139"} <= texts(d)
    curve = b.lines[0]
    at_one = np.interp(1.0, curve.get_xdata(), curve.get_ydata())
    assert at_one == pytest.approx(0.124, abs=5e-4)
    assert [panel.get_title()[:3] for panel in (a, b, c, d)] == ["(a)", "(b)", "(c)", "(d)"]


def test_the_sessions_figure_has_four_panels_and_exact_waterfalls(sessions):
    model, X = sessions
    figure = drawn(plotting.plot_sessions(model, X))
    titles = [panel.get_title()[:3] for panel in figure.axes[:4]]
    assert titles == ["(a)", "(b)", "(c)", "(d)"]
    for panel in figure.axes[2:4]:
        assert "log |z|" in panel.get_xlabel()
    drawn(
        plotting.plot_sessions(
            model,
            X,
            curve_row=3,
            curve_features=["visits"],
            scenarios={"average": {}, "November": {"month": "Nov"}},
            waterfall_rows=(0, 1),
        )
    )


def test_the_sessions_figure_is_for_two_classes(wine):
    with pytest.raises(ValueError, match="two classes"):
        plotting.plot_sessions(wine[0], wine[1])


def test_waterfalls_end_at_the_model_s_score(wine):
    model, X, _ = wine
    axes = explain.shapley(model, X.iloc[:1], X).plot(label=1)
    total = model.decision_function(X.iloc[:1])[0, 1]
    bars = axes.patches
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(total)
    assert f"total {total:.4g}" in texts(axes)
    drawn(axes)


def test_small_contributions_are_drawn_together(wine):
    model, X, _ = wine
    axes = explain.shapley(model, X.iloc[:1], X).plot(label=0, max_features=2)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) <= 2


def test_explanations_choose_the_figure_that_suits_them(wine):
    model, X, _ = wine
    assert "Importance" in drawn(explain.importance(model, X).plot()).axes[0].get_title()
    assert "rows" in drawn(explain.shapley(model, X, X.iloc[:20]).plot(label=0)).axes[0].get_title()
    gradient = explain.log_gradient(model, X.iloc[:3])
    in_use = int((gradient.values[:, 0] != 0).any(axis=0).sum())
    assert len(drawn(gradient.plot(label=0)).axes[0].patches) == 3 * in_use
    drawn(explain.log_gradient(model, X).plot(kind="importance"))
    drawn(explain.log_additive(model, X.iloc[:1]).plot(label=0, term=1))
    drawn(explain.reasons(model, X.iloc[:1]).plot())
    with pytest.raises(ValueError, match="kind must be"):
        explain.importance(model, X).plot(kind="pie")
    with pytest.raises(ValueError, match="choose one of the classes"):
        explain.log_gradient(model, X).plot(kind="beeswarm")
    with pytest.raises(ValueError, match="no values by feature"):
        explain.what_if(model, X.iloc[:1], {"ash": 1.01}).plot()
    with pytest.raises(ValueError, match="needs contributions"):
        explain.log_gradient(model, X).plot(kind="waterfall", label=0)


def test_undefined_cells_are_a_dash():
    result = explain.elasticity(Signomial.parse("x - y"), [[2.0, 1.0], [1.0, 2.0]])
    assert "—" in texts(drawn(result.plot()).axes[0])


def test_curves_equation_map_and_names_that_look_like_formulas(sessions):
    model, X = sessions
    figure = drawn(plotting.plot_curves(explain.what_if_curves(model, X.iloc[[0]])))
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert "page $value$" in labels
    assert "decision threshold 0.5" in labels
    drawn(plotting.plot_equation(model))
    drawn(
        plotting.plot_decision_map(
            model, X.iloc[[0]], ("page $value$", "exit rate"), rows=X.iloc[:50], y=X["month"][:50]
        )
    )
    with pytest.raises(ValueError, match="'month' is a category"):
        plotting.plot_decision_map(model, X.iloc[[0]], ("month", "exit rate"))
    with pytest.raises(ValueError, match="no score of False"):
        plotting.plot_equation(model, label=False)


def test_the_boundary_of_a_decision_map_is_where_the_decision_changes():
    """With one column in the score the boundary is a straight line at a place that is known."""
    equations = {"no": Signomial.parse("3"), "yes": Signomial.parse("x**2")}
    view = explain.ModelView.of_equations(equations, ["x", "y"], threshold=0.8)
    axes = plotting.plot_decision_map(view, [[1.0, 1.0]], ("x", "y"), ranges=dict.fromkeys("xy", (0.5, 3.0)))
    across = np.concatenate([path.vertices[:, 0] for path in axes.collections[1].get_paths()])
    np.testing.assert_allclose(across, np.sqrt(3 + np.log(4)), atol=1e-3)
    drawn(axes)


def test_only_the_curves_that_change_most_are_drawn(wine):
    model, X, _ = wine
    curves = explain.what_if_curves(model, X.iloc[[0]])
    axes = plotting.plot_curves(curves, label=0, max_features=2)
    swing = np.ptp(curves.outputs[:, :, 0], axis=1)
    shown = axes.get_legend_handles_labels()[1][:2]
    assert set(shown) == {curves.feature_names[i] for i in np.argsort(-swing)[:2]}


def test_a_decision_map_of_bare_equations_needs_a_range():
    view = screening_model()
    row = np.array([[1.4, 1.4, 1.2]])
    pair = ("tumour size", "biomarker")
    drawn(plotting.plot_decision_map(view, row, pair, ranges=dict.fromkeys(pair, (0.5, 3.0))))
    drawn(plotting.plot_decision_map(view, row, pair, rows=np.array(list(PROFILES.values()))))
    with pytest.raises(ValueError, match="ranges= or rows="):
        plotting.plot_decision_map(view, row, pair)
    with pytest.raises(ValueError, match="no classes"):
        plotting.plot_decision_map(Signomial.parse("x*y"), [[1.0, 1.0]], ("x", "y"))
