"""ECSELRegressor(criterion="prediction"): optimal numbers, invariances, planted equations; the text is the model."""

import re
import warnings
from math import isnan

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from ecsel import explain, export
from ecsel.estimators.persistence import load
from ecsel.estimators.prediction import OF_LAWS, Unit
from ecsel.estimators.readable import STOPPED
from ecsel.estimators.regressor import ECSELRegressor
from ecsel.explain.view import ModelView
from ecsel.files import ModelFileError
from ecsel.search.selection import RIDGES
from ecsel.signomial import Signomial, Term


def predictor(**options):
    return ECSELRegressor(criterion="prediction", **options)


def mixed(n=240, seed=0, noise=0.3):
    """Numbers, categories and missing values, and a target that depends on all of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(1, 5, n),
            "age of it": rng.uniform(1, 30, n),
            "colour": rng.choice(["red", "blue", "green"], n),
            "note": np.where(rng.random(n) < 0.15, np.nan, rng.normal(size=n)),
            "spare": rng.lognormal(size=n),
        }
    )
    y = 2 * frame["size"] ** 2 - 6 * np.log(frame["age of it"]) + 4 * (frame["colour"] == "red")
    y = y - frame["note"].fillna(0) + 3 * frame["note"].isna() + noise * rng.normal(size=n)
    return frame, y.to_numpy()


def shapes(model):
    return {term.factors for term in model.equation_.terms if not term.is_constant}


def evaluate_text(text, frame, fills):
    """Read the printed equation with Python's own arithmetic, indicators by their meaning."""
    values = {"log": np.log, "sqrt": np.sqrt}

    def name(found):
        key = f"v{len(values)}"
        inside = found.group(0)[1:-1]
        if inside.endswith(" missing"):
            values[key] = frame[inside.removesuffix(" missing")].isna().to_numpy() * 1.0
        elif " = " in inside:
            column, level = inside.split(" = ")
            values[key] = (frame[column] == level).to_numpy() * 1.0
        else:
            values[key] = frame[inside].to_numpy()
        return key

    text = re.sub(r"\[[^\]]*\]|`[^`]*`", name, text)
    for column in frame.columns:
        if pd.api.types.is_numeric_dtype(frame[column]):
            values.setdefault(column, frame[column].fillna(fills.get(column, np.nan)).to_numpy())
    return eval(text, {"__builtins__": {}}, values)


@pytest.fixture(scope="module")
def table():
    return mixed()


@pytest.fixture(scope="module")
def fitted(table):
    return predictor().fit(*table)


class TestEquation:
    def test_a_planted_equation_is_found(self, fitted):
        expected = "size**2 + log(`age of it`) + [colour = red] + note + [note missing]"
        assert shapes(fitted) == {term.factors for term in Signomial.parse(expected).terms}
        by_factors = {term.factors: term.coefficient for term in fitted.equation_.terms}
        truth = {"size**2": 2, "log(`age of it`)": -6, "[colour = red]": 4, "note": -1, "[note missing]": 3}
        for text, coefficient in truth.items():
            (term,) = Signomial.parse(text).terms
            assert by_factors[term.factors] == pytest.approx(coefficient, abs=0.35)

    def test_few_digits_are_enough(self, fitted):
        for term in fitted.equation_.terms:
            assert float(f"{term.coefficient:.4g}") == term.coefficient

    def test_the_printed_text_is_the_model(self, fitted, table):
        frame, _ = table
        fills = {feature.column: feature.fill for feature in fitted.encoder_.features if feature.kind == "number"}
        np.testing.assert_allclose(
            evaluate_text(str(fitted.equation_), frame, fills), fitted.predict(frame), rtol=1e-12, atol=1e-12
        )

    def test_digits_cost_less_than_is_allowed(self, table):
        """Rounding may raise the squared error by a fifth of a percent, or by half a nat."""
        exact, rounded = (predictor(digits=digits).fit(*table) for digits in (None, 2))
        assert shapes(exact) == shapes(rounded)
        n = len(table[1])
        assert rounded.law_.mse <= exact.law_.mse * (1 + max(0.002, 1 / (n - len(exact.law_.terms)))) * (1 + 1e-6)

    def test_numbers_are_optimal_given_the_pieces(self, table):
        """Without rounding the gradient is that of one ridge, the same for every piece, of a standardised target."""
        frame, y = table
        model = predictor(digits=None).fit(frame, y)
        features = dict(zip(model.encoder_.feature_names, model.encoder_.feature_rows(frame), strict=True))
        unit = Unit.of(y, np.ones(len(y)))
        residual = (y - model.predict(frame)) / unit.scale
        assert abs(residual.mean()) < 1e-7
        terms = [term for term in model.equation_.terms if not term.is_constant]
        noise = residual @ residual / (len(y) - len(terms) - 1)
        ridges = []
        for term in terms:
            x = Term.from_factors(1.0, term.factors).evaluate(features)
            z = (x - x.mean()) / x.std()
            theta = term.coefficient * x.std() / unit.scale
            leverage = max(1.0, (np.abs(z).max() / 3) ** 2)
            ridges.append(z @ residual / noise / (leverage * theta))
        np.testing.assert_allclose(ridges, np.mean(ridges), rtol=1e-3)
        assert min(abs(np.mean(ridges) / ridge - 1) for ridge in RIDGES) < 1e-3

    def test_a_law_without_noise_is_fitted_to_its_last_digits(self):
        rng = np.random.default_rng(3)
        X = rng.uniform(1, 5, (150, 3))
        y = 2 * X[:, 0] ** 2 / X[:, 1] + 3 * np.log(X[:, 2])
        model = predictor().fit(X, y)
        assert str(model.equation_) == "2*x0**2/x1 + 3*log(x2)"
        assert model.score(X, y) == 1
        odd = predictor().fit(X, np.pi * X[:, 0] ** 2 / X[:, 1] + np.e)
        assert shapes(odd) == {Signomial.parse("x0**2/x1").terms[0].factors}
        assert 1 - odd.score(X, np.pi * X[:, 0] ** 2 / X[:, 1] + np.e) < 1e-11

    def test_limits_are_kept(self, table):
        for options, check in [
            ({"max_terms": 2}, lambda eq: sum(not t.is_constant for t in eq.terms) <= 2),
            ({"n_terms": 1}, lambda eq: sum(not t.is_constant for t in eq.terms) == 1),
            ({"max_factors": 3}, lambda eq: eq.n_factors <= 3),
            ({"allowed_exponents": [1]}, lambda eq: all(f.exponent == 1 and not f.log for f in factors(eq))),
            ({"allowed_exponents": "integers"}, lambda eq: all(f.exponent.denominator == 1 for f in factors(eq))),
            ({"allowed_exponents": ["log"]}, lambda eq: all(f.log for f in factors(eq) if f.name == "size")),
            ({"exponent_bounds": (0, 1)}, lambda eq: all(f.log or 0 <= f.exponent <= 1 for f in factors(eq))),
            ({"exponent_bounds": {"size": (-1, 1)}}, lambda eq: all(f.exponent != 2 for f in factors(eq))),
        ]:
            model = predictor(cv=3, **options).fit(*table)
            assert check(model.equation_), options
            assert all(check(candidate.equations[0]) for candidate in model.path_ if options != {"n_terms": 1})

    def test_thresholds(self):
        rng = np.random.default_rng(4)
        X = rng.uniform(0, 10, (200, 2))
        y = 3.0 * (X[:, 0] > 5) + 0.3 * rng.normal(size=200)
        model = predictor(thresholds=True, cv=3).fit(X, y)
        assert any(name.startswith("[x0 > ") for name in model.equation_.names)
        assert predictor(cv=3).fit(X, y).law_.mse > 1.5 * model.law_.mse


def factors(equation):
    return [factor for term in equation.terms for factor in term.factors]


class TestInvariance:
    def test_neither_order_nor_threads_change_a_bit(self, fitted, table):
        frame, y = table
        order = np.random.default_rng(1).permutation(len(y))
        for n_jobs in (1, 2):
            model = predictor(n_jobs=n_jobs).fit(frame.iloc[order], y[order])
            assert model.equation_ == fitted.equation_
            assert model.out_of_fold_.rmse == pytest.approx(fitted.out_of_fold_.rmse, rel=1e-12)
            assert [c.loss for c in model.path_] == [c.loss for c in fitted.path_]
            np.testing.assert_array_equal(model.predict(frame), fitted.predict(frame))

    @pytest.mark.parametrize(("scale", "shift"), [(1e6, 0.0), (1e-9, 0.0), (1.0, 1e5), (3.7, -20.0)])
    def test_the_unit_of_the_target_does_not_matter(self, table, scale, shift):
        frame, y = table
        plain, scaled = (predictor(digits=None).fit(frame, target) for target in (y, shift + scale * y))
        assert shapes(scaled) == shapes(plain)
        np.testing.assert_allclose(scaled.predict(frame), shift + scale * plain.predict(frame), rtol=1e-6)
        assert scaled.out_of_fold_.r2 == pytest.approx(plain.out_of_fold_.r2, abs=1e-6)
        np.testing.assert_allclose([c.loss for c in scaled.path_], [c.loss * scale**2 for c in plain.path_], rtol=1e-5)

    def test_weights_are_rows(self, table):
        frame, y = table
        weight = np.random.default_rng(2).integers(0, 3, len(y))
        weighted = predictor(cv=3).fit(frame, y, sample_weight=weight)
        rows = np.repeat(np.arange(len(y)), weight)
        repeated = predictor(cv=3).fit(frame.iloc[rows], y[rows])
        assert weighted.equation_ == repeated.equation_
        np.testing.assert_allclose(weighted.law_.covariance, repeated.law_.covariance, rtol=1e-9)
        assert predictor(cv=3).fit(frame, y, sample_weight=weight / 7).equation_.names == weighted.equation_.names

    def test_every_kind_of_table_gives_the_same_equation(self, fitted, table):
        frame, y = table
        assert predictor().fit(pl.from_pandas(frame), y).equation_ == fitted.equation_

    def test_the_folds_may_be_given(self, table):
        frame, y = table
        splits = list(KFold(3, shuffle=True, random_state=0).split(frame))
        one, two = (predictor(cv=cv).fit(frame, y) for cv in (splits, KFold(3, shuffle=True, random_state=0)))
        assert one.equation_ == two.equation_
        assert one.n_folds_ == 3


class TestQuality:
    @pytest.mark.parametrize("seed", range(4))
    def test_noise_is_hardly_predicted_worse_than_by_the_mean(self, seed):
        rng = np.random.default_rng(seed)
        X, fresh = rng.normal(size=(120, 5)), rng.normal(size=(1000, 5))
        y, truth = rng.normal(size=120), rng.normal(size=1000)
        model = predictor(cv=3).fit(X, y)
        # the mean of 120 rows itself costs 1/120
        assert model.score(fresh, truth) > -0.06
        assert model.equation_.n_factors <= 2
        assert model.out_of_fold_.r2 < 0.1

    def test_rows_outside_count_as_the_nearest_end(self, fitted, table):
        frame, _ = table
        far = frame.assign(size=frame["size"] * 100, **{"age of it": frame["age of it"] - 100})
        ends = frame.assign(
            size=np.minimum(far["size"], frame["size"].max()),
            **{"age of it": np.maximum(far["age of it"], frame["age of it"].min())},
        )
        with pytest.warns(UserWarning, match="above the training maximum of 'size'"):
            found = fitted.predict(far)
        np.testing.assert_array_equal(found, fitted.predict(ends))

    def test_the_figures_are_those_of_held_out_rows(self, table):
        """Every row is predicted by the fit of a fold without it."""
        frame, y = table
        splits = list(KFold(3, shuffle=True, random_state=0).split(frame))
        model = predictor(cv=splits, rule="best", digits=None).fit(frame, y)
        assert model.out_of_fold_.n_rows == len(y)
        assert model.law_.validation_mse == pytest.approx(model.out_of_fold_.rmse**2, rel=1e-9)
        assert model.law_.mse < model.out_of_fold_.rmse**2
        assert model.out_of_fold_.r2 == pytest.approx(1 - model.out_of_fold_.rmse**2 / y.var(), rel=1e-9)
        own = [c for c in model.path_ if c.equations == (model.equation_,)]
        assert own[0].loss == model.law_.validation_mse

    def test_the_front_falls(self, fitted, table):
        assert [c.size for c in fitted.path_] == sorted({c.size for c in fitted.path_})
        losses = [c.loss for c in fitted.path_ if c.equations != (fitted.equation_,)]
        assert losses == sorted(losses, reverse=True)
        assert losses[0] == pytest.approx(table[1].var(), rel=0.02)  # the mean of the other folds
        assert set(fitted.near_ties_) <= set(range(len(fitted.path_)))
        assert list(fitted.path_.to_frame().columns) == [
            *("n_terms", "l1", "size", "loss", "loss_se", "n_rows"),
            "smoothed_loss",
        ]

    def test_standard_errors_are_those_of_the_sandwich(self, table):
        """Huber's and White's formula for least squares in the chosen pieces, scaled by n/(n − p)."""
        frame, y = table
        model = predictor().fit(frame, y)
        features = dict(zip(model.encoder_.feature_names, model.encoder_.feature_rows(frame), strict=True))
        n = len(y)
        design = np.column_stack(
            [
                np.broadcast_to(Term.from_factors(1.0, term.factors).evaluate(features), n)
                for term in model.equation_.terms
            ]
        )
        inverse = np.linalg.inv(design.T @ design)
        residual = y - design @ (inverse @ design.T @ y)
        meat = (design * residual[:, None] ** 2).T @ design
        expected = inverse @ meat @ inverse * n / (n - design.shape[1])
        np.testing.assert_allclose(model.law_.covariance, expected, rtol=1e-6)

    def test_intervals_cover_new_rows(self):
        frame, y = mixed(200, noise=1.0)
        new, truth = mixed(1000, seed=5, noise=1.0)
        model = predictor().fit(frame, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = model.predict_interval(new, 0.9).T
            inner_low, inner_high = model.predict_interval(new, 0.9, noise=0).T
        assert 0.86 < np.mean((low <= truth) & (truth <= high)) < 0.95
        assert ((low < inner_low) & (inner_low < inner_high) & (inner_high < high)).all()

    def test_noise_counts_what_the_choice_costs(self):
        """The held-out error is larger than the residuals say where pieces were chosen among many."""
        rng = np.random.default_rng(8)
        X = rng.normal(size=(60, 10))
        y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=60)
        law = predictor().fit(X, y).law_
        assert law.noise.sigma**2 >= law.noise_variance
        assert law.noise.sigma**2 <= max(law.noise_variance, law.validation_mse)


class TestModel:
    def test_select_gives_every_candidate(self, fitted, table):
        frame, y = table
        for i, candidate in enumerate(fitted.path_):
            other = fitted.select(i)
            assert (other.equation_,) == candidate.equations
            assert set(other.encoder_.feature_names) == set(other.equation_.names)
            assert np.mean((other.predict(frame) - y) ** 2) == pytest.approx(other.law_.mse, rel=1e-9)
            assert other.predict_interval(frame).shape == (len(y), 2)
            assert other.out_of_fold_ is None
            assert f"select({i})" in other.summary()
        with pytest.raises(IndexError, match="there is no law"):
            fitted.select(99)

    def test_words(self, fitted):
        reported = fitted.summary()
        assert f"y = {fitted.equation_}" in reported
        assert "std. error" in reported
        assert "R²" in reported
        assert "a value outside counts as the nearest end" in reported
        assert fitted.describe().startswith(f"y = {fitted.equation_}")
        assert r"\log" in fitted.to_latex()

    def test_a_saved_model_is_the_same(self, fitted, table, tmp_path):
        frame, _ = table
        fitted.save(tmp_path / "model.json")
        again = load(tmp_path / "model.json")
        assert again.equation_ == fitted.equation_
        assert again.encoder_ == fitted.encoder_
        assert again.path_ == fitted.path_
        assert again.out_of_fold_ == fitted.out_of_fold_
        np.testing.assert_array_equal(again.predict(frame), fitted.predict(frame))
        np.testing.assert_array_equal(again.predict_interval(frame), fitted.predict_interval(frame))
        assert again.summary() == fitted.summary()
        assert again.describe() == fitted.describe()
        assert again.get_params() == fitted.get_params()
        assert again.select(1).summary() == fitted.select(1).summary()
        other = fitted.select(1)
        other.save(tmp_path / "other.json")
        assert load(tmp_path / "other.json").summary() == other.summary()

    def test_a_broken_file_is_named(self, fitted, tmp_path):
        fitted.save(tmp_path / "model.json")
        text = (tmp_path / "model.json").read_text()
        (tmp_path / "broken.json").write_text(text.replace('"near_ties"', '"far_ties"'))
        with pytest.raises(ModelFileError, match=r"report.near_ties: the field is not there"):
            load(tmp_path / "broken.json")

    def test_another_kind_of_fit_forgets_the_last(self, table):
        frame, y = table
        numbers = frame[["size", "age of it"]]
        model = predictor(cv=3, max_terms=2).fit(frame, y)
        model.set_params(criterion="law", max_terms=1).fit(numbers, y)
        assert not hasattr(model, "encoder_")
        assert ModelView.of(model).encoder is None
        assert np.isfinite(model.predict(numbers)).all()
        model.set_params(criterion="prediction").fit(numbers, y)
        assert hasattr(model, "encoder_")
        assert model.feature_names_in_.tolist() == ["size", "age of it"]

    def test_explanations_speak_of_raw_columns(self, fitted, table):
        frame, _ = table
        view = ModelView.of(fitted)
        assert (view.link.name, view.raw_names) == ("identity", tuple(frame.columns))
        np.testing.assert_allclose(view.scores_of(view.rows(frame))[:, 0], fitted.predict(frame), rtol=1e-12)
        found = explain.shapley(fitted, frame.head(5), frame)
        total = np.asarray(found.values)[:, 0].sum(axis=-1) + fitted.predict(frame).mean()
        np.testing.assert_allclose(total, fitted.predict(frame.head(5)), rtol=1e-9)
        assert "colour" in str(explain.reasons(fitted, frame.iloc[[int((frame["colour"] == "red").argmax())]], 5))

    def test_exports_say_what_the_model_says(self, fitted, table):
        duckdb = pytest.importorskip("duckdb")
        frame, _ = table
        rows = frame.head(40)
        namespace = {}
        exec(export.to_python(fitted), namespace)
        cells = [{k: None if pd.isna(v) else v for k, v in row.items()} for row in rows.to_dict("records")]
        reported = [namespace["predict"](row)["prediction"] for row in cells]
        np.testing.assert_allclose(reported, fitted.predict(rows), rtol=1e-12)
        with duckdb.connect() as connection:
            connection.register("rows", rows.assign(id=range(len(rows))))
            query = export.to_sql(fitted, "duckdb", "rows", keep=["id"])
            answer = connection.execute(query).df().sort_values("id")
        np.testing.assert_allclose(answer["prediction"], fitted.predict(rows), rtol=1e-12)


class TestUnusualTables:
    def test_a_constant_target(self, table):
        frame, y = table
        for value in (3.25, 0.0, -1e9):
            model = predictor().fit(frame, np.full(len(y), value))
            assert model.predict(frame).tolist() == [value] * len(y)
            assert not model.law_found_
            assert "No column is used" in model.describe()
            assert model.predict_interval(frame)[0].tolist() == [value, value]
            assert model.out_of_fold_ is None
            assert isnan(model.path_[0].loss)

    @pytest.mark.parametrize("n", [2, 3, 5, 9])
    def test_few_rows(self, n):
        rng = np.random.default_rng(n)
        X = rng.uniform(1, 5, (n, 2))
        model = predictor().fit(X, X[:, 0] + rng.normal(size=n))
        assert np.isfinite(model.predict(X)).all()
        assert np.isfinite(model.predict_interval(X)).all()
        assert model.summary()

    def test_more_columns_than_rows(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 60))
        model = predictor(cv=3).fit(X, 3 * X[:, 7] + 0.3 * rng.normal(size=40))
        assert model.equation_.names == ("x7",)

    def test_a_target_far_from_zero_gets_the_digits_that_it_needs(self):
        rng = np.random.default_rng(1)
        X = rng.uniform(1, 5, (100, 2))
        y = 1e7 + X[:, 0] + 0.1 * rng.normal(size=100)
        model = predictor().fit(X, y)
        assert model.score(X, y) > 0.98

    def test_columns_that_cannot_take_part_are_reported(self, table):
        frame, y = table
        wide = frame.assign(one=1.0, key=[f"k{i}" for i in range(len(y))])
        assert predictor(cv=3, max_terms=2).fit(wide, y).columns_left_out_ == ("one", "key")

    def test_many_rows_are_fitted_on_all_of_them(self):
        rng = np.random.default_rng(6)
        X = rng.uniform(1, 5, (12_000, 2))
        y = 2 * np.log(X[:, 0]) - X[:, 1] + rng.normal(size=12_000)
        model = predictor(digits=None, max_terms=2, cv=3).fit(X, y)
        design = np.column_stack([np.log(X[:, 0]), X[:, 1], np.ones(len(y))])
        exact = np.linalg.lstsq(design, y, rcond=None)[0]
        found = {str(Signomial([Term.from_factors(1.0, t.factors)])): t.coefficient for t in model.equation_.terms}
        errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
        assert (np.abs(np.array([found["log(x0)"], found["x1"], found["1"]]) - exact) < 0.1 * errors).all()
        ours = [p.standard_error for p in model.law_.parameters]
        np.testing.assert_allclose(sorted(ours), sorted(errors), rtol=0.05)

    def test_time_that_is_over_is_reported(self, table):
        with pytest.warns(UserWarning, match=re.escape(STOPPED)):
            model = predictor(time_limit=1e-3).fit(*table)
        assert not model.search_completed_
        assert "stopped before its end" in model.describe()
        assert np.isfinite(model.predict(table[0])).all()


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_terms": 0}, "n_terms=0 must be a whole number"),
            ({"n_terms": "two"}, "n_terms='two'"),
            ({"max_terms": 2.5}, "max_terms=2.5"),
            ({"max_factors": 0}, "max_factors=0"),
            ({"digits": 0}, "digits=0"),
            ({"rule": "quick"}, "rule='quick'"),
            ({"thresholds": 1}, "thresholds=1"),
            ({"time_limit": -1}, "time_limit=-1"),
            ({"cv": 1}, "cv=1 must be a whole number of at least 2"),
            ({"cv": "five"}, "cv='five'"),
            ({"n_jobs": 0}, "n_jobs=0"),
            ({"allowed_exponents": "real"}, "is for criterion='law'"),
            ({"allowed_exponents": "some"}, "allowed_exponents='some'"),
            ({"allowed_exponents": [5]}, "5 is not known"),
            ({"exponent_bounds": (1, 2)}, "low <= 0 <= high"),
            ({"exponent_bounds": {"zz": (-1, 1)}}, "'zz'"),
            ({"missing": "guess"}, "missing"),
            ({"noise": "relative"}, "noise belongs to criterion='law'"),
            ({"noise": np.ones(20)}, "noise belongs to criterion='law'"),
            ({"units": {"x0": "m"}}, "units belongs to criterion='law'"),
            ({"fixed_terms": "x0"}, "fixed_terms belongs"),
            ({"form": "a*x0"}, "form belongs"),
            ({"solver": "paper"}, "solver belongs"),
        ],
    )
    def test_bad_options_have_one_clear_message(self, options, message):
        X = np.random.default_rng(0).uniform(1, 5, (20, 2))
        with pytest.raises(ValueError, match=message):
            predictor(**options).fit(X, X[:, 0])

    def test_options_of_laws_are_known(self):
        assert {name: ECSELRegressor().get_params()[name] for name in OF_LAWS} == OF_LAWS

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            (["a", "b"] * 10, "y holds text"),
            ([np.nan] * 20, "Input y contains NaN"),
            ([1.0, np.inf] * 10, "Input y contains infinity"),
            ([1.0, 2.0], "inconsistent numbers of samples"),
            ([1j, 2.0] * 10, "Complex data not supported"),
            (None, "requires y to be passed"),
            ([1e200, -1e200] * 10, "rescale y"),
        ],
    )
    def test_bad_targets_have_one_clear_message(self, y, message):
        X = np.random.default_rng(0).uniform(1, 5, (20, 2))
        with pytest.raises(ValueError, match=message):
            predictor().fit(X, y)

    def test_missing_values_that_training_had_not_are_refused(self, table):
        frame, y = table
        model = predictor(cv=3, max_terms=2).fit(frame, y)
        with pytest.raises(ValueError, match="'size' has 1 missing value"):
            model.predict(frame.head(3).assign(size=[1.0, np.nan, 2.0]))

    def test_options_survive_cloning(self):
        model = predictor(digits=3, cv=KFold(3), thresholds=True)
        assert clone(model).get_params()["digits"] == 3
        assert clone(model).get_params()["criterion"] == "prediction"
