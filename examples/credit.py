"""
A loan that must be explained
=============================

A lender has to show that more income never harms an applicant, give the reasons for a refusal, tell the applicant what
would change it, and hand the regulator a document. The applications of this page are *simulated*:
they need no licence and say nothing about real borrowers.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from familiar_data import by_hand
from sklearn.model_selection import train_test_split

from ecsel import ECSELClassifier, explain, quality

rng = np.random.default_rng(7)
n = 2000
income = np.round(rng.lognormal(10.4, 0.5, n) / 1000, 1)  # both in thousands
debt = np.round(income * rng.beta(2, 5, n), 1)
applications = pd.DataFrame(
    {
        "income": income,
        "debt": debt,
        "years_employed": rng.integers(0, 30, n),
        "late_payments": rng.poisson(0.8, n),
        "housing": rng.choice(["owner", "tenant", "with parents"], n, p=[0.4, 0.5, 0.1]),
    }
)
z = 1.2 * np.log(income / 30) - 1.5 * np.log1p(debt / 8) + 0.5 * np.log1p(applications["years_employed"])
z += 1.3 - 0.9 * applications["late_payments"] + 0.4 * (applications["housing"] == "owner")
repaid = pd.Series(np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "repaid", "defaulted"), name="loan")
X, X_test, y, y_test = train_test_split(applications, repaid, stratify=repaid, random_state=0)
warnings.simplefilter("ignore", UserWarning)  # test rows may lie outside the training range

# %%
# A promise that is kept and proven
# ---------------------------------
# ``monotone`` excludes pieces that would move the wrong way; afterwards every piece is checked again, and
# ``summary()`` states the promise with its proof.

promises = {"income": +1, "years_employed": +1, "debt": -1, "late_payments": -1}
model = ECSELClassifier(max_factors=6, monotone=promises, threshold=0.6).fit(X, y)
print("log-odds of repayment =", model.equations_["repaid"])
print(model.summary())
auc = quality.auc(y_test, model.decision_function(X_test))
print(f"AUC on held-out rows: {auc.value:.3f} (95 % interval {auc.low:.3f} to {auc.high:.3f})")

# %%
# Test the promise: doubling the income of every applicant lowers no probability.

doubled = explain.what_if(model, X_test, {"income": 2.0})
assert (doubled.probability_delta[:, 1] >= 0).all()

# %%
# Reasons for a refusal
# ---------------------

refused_applicant = X_test[model.predict(X_test) == "defaulted"][:1]
print(refused_applicant.to_string(index=False))
print(explain.reasons(model, refused_applicant))
axes = explain.reasons(model, refused_applicant).plot(kind="waterfall")

# %%
# The same application with a pocket calculator: every piece of the equation, their sum, the probability.

print(by_hand(model, refused_applicant))
print(f"predict_proba says           {model.predict_proba(refused_applicant)[0, 1]:.4f}")

# %%
# What would change it
# --------------------
# The nearest changes that the model itself confirms. Housing and years of employment are not in the applicant's hands,
# late payments cannot be undone, income and debt may move in one direction.

for answer in explain.counterfactual(
    model,
    refused_applicant,
    "repaid",
    data=X,
    immutable=["housing", "years_employed", "late_payments"],
    directions={"income": "increase", "debt": "decrease"},
):
    print(answer)

# %%
# Points, as on a scorecard: 600 points at odds of 50 to 1, 20 more points double the odds.

scale = quality.PointsScale(base_score=600, base_odds=50, pdo=20)
print("points of the refused applicant:", scale.points(model.decision_function(refused_applicant)).round())

# %%
# A document for the regulator
# ----------------------------
# One HTML file without server, network or other files: the equation, the data, the quality on held-out rows, what
# drives the decisions, groups compared, examples in words, and a live what-if that runs the model itself.

model.report(
    X,
    y,
    X_test=X_test,
    y_test=y_test,
    group="housing",
    title="Will a loan be repaid?",
    purpose="Support the decision on loans to private persons. Simulated applications, for demonstration.",
    immutable=["housing"],
)
