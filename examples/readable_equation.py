"""
An equation to check by hand
============================

Does a tumour look malignant? The table comes with scikit-learn: 569 tumours, each described by ten measurements of its
largest cell nuclei. The default classifier answers with a short sum of simple pieces of these columns, and the rounded
equation that it prints is the model.
"""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from ecsel import ECSELClassifier, explain
from ecsel.plotting import plot_curves

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.filter(like="worst").rename(columns=lambda name: name.removeprefix("worst ").replace(" ", "_"))
y = y.map({0: "malignant", 1: "benign"})
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
warnings.simplefilter("ignore", UserWarning)  # test rows may lie outside the training range

# %%
# How long should it be?
# ----------------------
# Cross-validation gives every size a loss on held-out rows; a factor is one function of one column. The library takes
# the shortest equation that is as good as the best, and all others stay at hand.

model = ECSELClassifier().fit(X, y)
front = model.path_.to_frame()
figure, axes = plt.subplots(layout="constrained")
axes.errorbar(front["size"], front["loss"], front["loss_se"], fmt="o-", color="#0072B2", capsize=3)
axes.set(xlabel="factors", ylabel="log-loss on held-out rows, ± its standard error", ylim=0)
for candidate in model.path_:
    print(f"{candidate.size:2} factors, log-loss {candidate.loss:.3f}: {candidate.equations[0]}")

# %%
# Most of what there is to learn is learned with three factors, and on new rows nothing is lost. ``max_factors`` asks
# for that size.

short = ECSELClassifier(max_factors=3).fit(X, y)
equation = short.equations_["malignant"]
print("log-odds of malignant =", equation)
print(f"accuracy on new tumours {short.score(X_test, y_test):.3f}, of the longer one {model.score(X_test, y_test):.3f}")

# %%
# What each piece says
# --------------------
# ``summary()`` puts every piece into words, and states the rules that belong to the equation: the training ranges, and
# what a value outside them or a missing one counts as.

print(short.summary())

# %%
# One tumour by hand
# ------------------
# The new tumour that the model is least sure of. Python serves as the pocket calculator, and reads the printed text.

tumour = X_test.iloc[[np.abs(short.decision_function(X_test)).argmin()]]
numbers = tumour.iloc[0].to_dict() | {"log": np.log, "sqrt": np.sqrt}
score = eval(str(equation), {"__builtins__": {}}, numbers)  # noqa: S307 - our own text, to show that it is all there is
print({name: numbers[name] for name in sorted(equation.names)})
print(f"score {score:.4f}, probability of malignant {1 / (1 + np.exp(-score)):.4f}")
print(f"predict_proba says             {short.predict_proba(tumour)[0, 1]:.4f}")

# %%
# Which way would it tip?
# -----------------------
# The exact curves of the probability as one column of this tumour changes and the others stay.

axes = plot_curves(explain.what_if_curves(short, tumour, sorted(equation.names)))
