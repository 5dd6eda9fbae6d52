"""
A heart clinic: sums that a doctor can do
=========================================

Nine columns of the kind that cardiologists know: pain, heart rate under load, vessels seen narrow. A model that helps
there must be open to a doctor who doubts it, so the equation is short, moves the right way, and says what a missing
value counts as. The patients are *simulated* with the columns of the Cleveland data
(``examples/familiar_data.py``), so that no licence is needed: this page shows a way to work, and says nothing about
real hearts.
"""

from __future__ import annotations

import warnings

from familiar_data import by_hand, heart_clinic
from sklearn.model_selection import train_test_split

from ecsel import ECSELClassifier, quality, scorecard

patients = heart_clinic()
X, y = patients.drop(columns="disease"), patients["disease"]
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
warnings.simplefilter("ignore", UserWarning)  # that age and sex may be protected is known

# %%
# What must hold, and what a mistake costs
# ----------------------------------------
# More narrow vessels must never look healthier, and a patient who is sent home ill costs four times as much as a
# needless examination. The threshold is chosen on held-out folds by that cost. That having no pain *raises* the odds is
# no mistake of the model: it is so in the Cleveland data, after which these patients were drawn.

model = ECSELClassifier(
    max_factors=6,
    monotone={"vessels": +1, "st_depression": +1, "max_heart_rate": -1},
    threshold=[[0, 1], [4, 0]],  # cost[true][predicted], healthy before ill
).fit(X, y)
print("log-odds of being ill =", model.equations_["ill"])
print(model.summary())
auc = quality.auc(y_test, model.decision_function(X_test))
print(f"AUC on new patients: {auc.value:.3f} (95 % interval {auc.low:.3f} to {auc.high:.3f})")

# %%
# One patient by hand
# -------------------
# The new patient nearest to the threshold.

patient = X_test.iloc[[abs(model.predict_proba(X_test)[:, 1] - model.threshold_).argmin()]]
print(patient.iloc[0].to_string())
print(by_hand(model, patient))
print(f"predict_proba says         {model.predict_proba(patient)[0, 1]:.4f}, examined from {model.threshold_:.3f} on")

# %%
# A card for the wall
# -------------------
# The same sum in whole points: ten more double the odds of being ill.

card = scorecard(model, pdo=10, base=50, base_odds=1, toward="ill", decimals=0)
print(card)
print(f"rounding to whole points moves no probability by more than {card.max_difference(X):.3f}")

# %%
# The report
# ----------

model.report(
    X, y, X_test=X_test, y_test=y_test, title="A heart clinic", purpose="Simulated patients, an example.", group="sex"
)
