r"""
Every property: formula, picture, example
=========================================

A piece of an equation is a product of functions of single columns, so everything one may want to know of a score has a
closed form. This page shows the paper's seven properties, and Shapley values, on one model: does a tumour look
malignant? The table comes with scikit-learn; five of its columns are enough.

The model is the paper's, two products of powers, for which the formulas are shortest. The same functions serve the
readable equations of the default classifier, whose pieces may also be logarithms and indicators.

Notation: :math:`z_{ck}(x) = \alpha_{ck} \prod_j x_j^{\beta_{ckj}}` is term *k* of the score of class *c*,
:math:`z_c = \sum_k z_{ck}` the score, :math:`p_c` the probability. Features are positive; ``units="model"`` speaks of
them, ``units="raw"`` of the columns of the table.
"""

from __future__ import annotations

from sklearn.datasets import load_breast_cancer

from ecsel import ECSELClassifier, explain
from ecsel.plotting import plot_beeswarm, plot_curves, plot_margin, plot_scenarios, plot_waterfall

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X[["mean radius", "mean texture", "mean smoothness", "mean concavity", "mean symmetry"]]
y = y.map({0: "malignant", 1: "benign"})
model = ECSELClassifier(n_terms=2, l1=5e-3).fit(X, y)
(equation,) = model.equations_.values()
print("score of malignant =", format(equation, ".3g"))
rows = X.iloc[[5, 19, 21, 41]]
print(rows.assign(p=model.predict_proba(rows)[:, 1].round(3)).to_string())

# %%
# G1: elasticity
# --------------
# By how many per cent does the score change when a feature grows by one per cent?
#
# .. math:: E_{cj}(x) = \frac{\partial \log z_c}{\partial \log x_j} = \sum_k \frac{z_{ck}(x)}{z_c(x)}\, \beta_{ckj}
#
# With one term it is the exponent itself, everywhere. It is defined where the score is positive; ``absolute=True``
# explains :math:`\log |z_c|` wherever the score is not zero. Close to the boundary of a sigmoid the score is
# close to 0, and a small change is a large share of it: row 5.

result = explain.elasticity(model, rows, absolute=True)
axes = plot_scenarios(result, scenarios=[f"row {i}" for i in rows.index])

# %%
# G2: what if?
# ------------
# Multiply a feature by *q*, and every term is multiplied by a power of *q*: no new evaluation, no approximation.
#
# .. math:: z_c(x \circ q) = \sum_k \Big( \prod_j q_j^{\beta_{ckj}} \Big)\, z_{ck}(x)

print(explain.what_if(model, rows, {"mean radius": 1.1}).to_frame().round(3).to_string(index=False))
axes = plot_curves(explain.what_if_curves(model, rows.iloc[[1]], ["mean radius", "mean texture", "mean concavity"]))

# %%
# G3: log-gradient
# ----------------
# How much does the score change per relative change of a feature? Defined everywhere, whatever the sign of the score.
#
# .. math:: G_{cj}(x) = \frac{\partial z_c}{\partial \log x_j} = \sum_k \beta_{ckj}\, z_{ck}(x)

axes = plot_beeswarm(explain.log_gradient(model, X))

# %%
# D1: what moves the boundary?
# ----------------------------
# The margin between two classes, and its sensitivity.
#
# .. math:: \frac{\partial (z_a - z_b)}{\partial \log x_j} = G_{aj}(x) - G_{bj}(x)
#
# With a sigmoid the other score is 0, so that D1 is G3 of the one score.

sensitivity = explain.margin_sensitivity(model, rows, "malignant", "benign")
print(sensitivity.to_frame().round(3).head(5).to_string(index=False))
axes = plot_margin(model, rows, scenarios=[f"row {i}" for i in rows.index])

# %%
# D2: what moves the probability?
# -------------------------------
# A feature raises the probability of a class only if it raises its score more than it raises the average score.
#
# .. math:: \frac{\partial p_c}{\partial \log x_j} = p_c \Big( G_{cj} - \sum_r p_r G_{rj} \Big)

result = explain.probability_sensitivity(model, rows)
axes = plot_scenarios(result, label="malignant", scenarios=[f"row {i}" for i in rows.index])

# %%
# L1: a term adds up in its logarithm
# -----------------------------------
# Against a reference point *b*, by default the geometric mean of the training rows, exactly:
#
# .. math:: \log |z_{ck}(x)| = \log |z_{ck}(b)| + \sum_j \beta_{ckj} \log \frac{x_j}{b_j}

axes = plot_waterfall(explain.log_additive(model, rows), row=1, term=1)

# %%
# L2: the score adds up to first order
# ------------------------------------
# With several terms the score has no exact additive form in the logs; its tangent at the reference point has. The error
# of the linearisation is reported beside it.
#
# .. math:: \phi_j(x) = G_{cj}(b) \, (\log x_j - \log b_j)

first_order = explain.attribution(model, rows)
print("linearisation error of each row:", first_order.error.round(3).ravel())
axes = plot_waterfall(first_order, row=1)

# %%
# Beyond the paper: exact Shapley values
# --------------------------------------
# For one term and one background row the game is a product, and its Shapley values are the integral of a polynomial,
#
# .. math:: \varphi_p = \alpha \int_0^1 (a_p - b_p) \prod_{i \ne p} \big( q\, a_i + (1 - q)\, b_i \big)\, dq,
#
# which a few Gauss–Legendre nodes integrate exactly: no sampling, and additive to the last digit.

values = explain.shapley(model, rows, X)
print("sums to the score:", values.values.sum(axis=2).ravel() + values.base_values.ravel())
print("the score itself: ", model.decision_function(rows))
axes = plot_waterfall(values, row=1)
