import io

import numpy as np
import pytest

from ecsel import Signomial, explain, plotting
from ecsel.plotting.equation import piece_reach
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
    named = axes.get_legend_handles_labels()[1][:2]
    assert set(named) == {curves.feature_names[i] for i in np.argsort(-swing)[:2]}


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


def test_bars_of_pieces_reach_as_far_as_the_training_range_allows(readable):
    model, _ = readable
    encoder, rng = model.encoder_, np.random.default_rng(0)
    for term in model.equations_[True].terms:
        if term.is_constant:
            continue
        low, high = piece_reach(term, encoder)
        assert low <= 0 <= high
        box = {f.name: (f.low, f.high) for f in encoder.features}
        rows = {name: np.append(rng.uniform(*box[name], 500), box[name]) for name in term.names}
        typical = {f.name: [f.baseline] for f in encoder.features if f.name in term.names}
        change = term.evaluate(rows) - term.evaluate(typical)
        assert low - 1e-9 <= change.min()
        assert change.max() <= high + 1e-9
        if len(term.names) == 1:
            assert change.min() == pytest.approx(low, abs=0.02 * (high - low))
            assert change.max() == pytest.approx(high, abs=0.02 * (high - low))


def test_a_readable_equation_is_drawn_piece_by_piece(readable):
    model, _ = readable
    (axes,) = drawn(plotting.plot_equation(model)).axes
    n_pieces = sum(not term.is_constant for term in model.equations_[True].terms)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) == n_pieces
    assert "Log-odds of True" in axes.get_title()
    assert any("page $value$" in label for label in labels)
    drawn(plotting.plot_equation(model, max_features=1))


def test_exponents_of_logarithms_and_shifts_are_drawn_by_their_bases():
    figure = drawn(plotting.plot_equation(Signomial.parse("2*log(x)*y**2 - 3/(x + 5) + 1")))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert set(labels) == {"log(x)", "y", "x + 5"}
    bars = {axes.get_title()[:2]: [bar.get_width() for bar in axes.patches] for axes in figure.axes}
    at = {label: k for k, label in enumerate(labels)}
    assert bars["+2"][at["y"]] == 2
    assert bars["+2"][at["log(x)"]] == 1
    assert bars["-3"][at["x + 5"]] == -1


def test_every_figure_takes_a_readable_model(readable):
    model, X = readable
    figure = drawn(plotting.plot_sessions(model, X))
    z = model.decision_function(X)
    for panel in figure.axes[2:4]:
        row = int(panel.get_title().split()[2].rstrip(":"))
        assert f"total {z[row]:.4g}" in texts(panel)
    drawn(plotting.plot_curves(explain.what_if_curves(model, X.iloc[[0]])))
    drawn(plotting.plot_margin(model, X.iloc[:3]))
    drawn(plotting.plot_decision_map(model, X.iloc[[0]], ("page $value$", "exit rate"), rows=X.iloc[:50]))
    drawn(plotting.plot_reliability(model))
    for explanation in (
        explain.importance(model, X),
        explain.shapley(model, X.iloc[:1], X),
        explain.shapley(model, X, X.iloc[:20]),
        explain.attribution(model, X.iloc[:1]),
        explain.elasticity(model, X.iloc[:3]),
        explain.log_gradient(model, X.iloc[:3]),
        explain.reasons(model, X.iloc[:1]),
    ):
        drawn(explanation.plot())
