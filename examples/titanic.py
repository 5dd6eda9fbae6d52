"""
Who survived the Titanic?
=========================

Everybody on board, by class, sex and age: the count of the British Board of Trade of 1912, in 14 groups of people. The
page writes the 2201 people out as rows, asks for a short equation, and reads it.

*Data*: the published counts of those who died and those who survived (see ``examples/familiar_data.py``), which are
facts and free to use.
"""

from __future__ import annotations

import warnings

from familiar_data import TITANIC, by_hand, titanic

from ecsel import ColumnWarning, ECSELClassifier

warnings.simplefilter("ignore", ColumnWarning)  # sex and age are protected attributes; here they are the question
people = titanic()
X, y = people.drop(columns="fate"), people["fate"]
model = ECSELClassifier(max_factors=4).fit(X, y)
print("log-odds of survival =", model.equations_["survived"])

# %%
# What it says
# ------------
# Indicators in brackets are 1 or 0, so every number is a difference on the scale of log-odds, and ``summary()`` says
# what it does to the odds. A product of two brackets counts only for people who are both.

print(model.summary())

# %%
# One person by hand
# ------------------
# A grown-up woman in the first class.

woman = X[(X["cabin"] == "first") & (X["sex"] == "female") & (X["age"] == "adult")].head(1)
print(by_hand(model, woman))
print(f"predict_proba says              {model.predict_proba(woman)[0, 1]:.4f}")

# %%
# Where four factors are not enough
# ---------------------------------
# The table has 14 groups, so the equation can be held against every one of them.

for (cabin, sex, age), (died, survived) in TITANIC.items():
    group = X[(X["cabin"] == cabin) & (X["sex"] == sex) & (X["age"] == age)].head(1)
    share, said = survived / (died + survived), model.predict_proba(group)[0, 1]
    print(f"{cabin:<7}{sex:<7}{age:<6} {died + survived:4} people: {share:4.0%} survived, {said:4.0%} by the equation")

# %%
# It is furthest off for the few children: those of the first and the second class were all saved, and in the third
# class it helped little to be a child. Without ``max_factors`` the folds choose how long the equation is.

longer = ECSELClassifier().fit(X, y)
print("log-odds of survival =", longer.equations_["survived"])
gain = model.out_of_fold_.log_loss, longer.out_of_fold_.log_loss
print(f"log-loss on held-out rows {gain[0]:.3f}, of the longer one {gain[1]:.3f}")

# %%
# The report
# ----------
# The last line of a cell shows it in a notebook, and here.

model.report(X, y, title="Who survived the Titanic?", purpose="An example. 2201 people, three columns.")
