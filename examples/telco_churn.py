"""
Which customers leave?
======================

A typical table of a telephone company: an identifier, categories, a number that is stored as text and is blank for
customers in their first month. It goes into ``fit`` as it is. The customers on this page are *simulated* with the
columns of the well-known churn table (see ``examples/familiar_data.py``): none of them is real, and no licence is
needed.
"""

from __future__ import annotations

import sqlite3
import warnings

import numpy as np
from familiar_data import by_hand, telco_churn
from sklearn.model_selection import train_test_split

from ecsel import ECSELClassifier, explain, export

customers = telco_churn()
X, y = customers.drop(columns="Churn"), customers["Churn"]
X, X_test, y, y_test = train_test_split(X, y, stratify=y, random_state=0)
warnings.simplefilter("ignore", UserWarning)  # test rows may lie outside the training range
print(X.head(3).T.to_string(header=False))

# %%
# The equation
# ------------
# The identifier is left out, the text is read as numbers, and ``summary()`` says so. It also reads the equation piece
# by piece: what each of them does to the odds of leaving.

model = ECSELClassifier(max_factors=5).fit(X, y)
print("log-odds of leaving =", model.equations_["Yes"])
print(f"AUC on held-out rows {model.out_of_fold_.auc:.3f}, accuracy on new customers {model.score(X_test, y_test):.3f}")
print(model.summary())

# %%
# One customer by hand
# --------------------
# Of the new customers the one whom the model is most sure to lose.

customer = X_test.iloc[[model.predict_proba(X_test)[:, 1].argmax()]]
print(customer.iloc[0].to_string())
print(by_hand(model, customer))
print(f"predict_proba says         {model.predict_proba(customer)[0, 1]:.4f}")

# %%
# Why, and what would keep them
# -----------------------------
# A customer cannot have been with the company for longer; a contract, a tariff or a way to pay can be offered.

print(explain.reasons(model, customer))
for answer in explain.counterfactual(model, customer, "No", data=X, immutable=["tenure", "SeniorCitizen"])[:3]:
    print(answer)

# %%
# Where the customers are
# -----------------------
# The whole model is one query, which the company's database runs; here SQLite is the database.

database = sqlite3.connect(":memory:")
X_test.to_sql("customers", database, index=False)
query = export.to_sql(model, "sqlite", "customers", keep=["customerID"])
answers = database.execute(query).fetchall()
database.close()
for key, label, _, leaves in answers[:3]:
    print(key, label, f"{leaves:.4f}")
assert np.allclose([answer[3] for answer in answers], model.predict_proba(X_test)[:, 1], rtol=1e-9)

# %%
# The report
# ----------

model.report(X, y, X_test=X_test, y_test=y_test, title="Which customers leave?", purpose="An example, simulated.")
