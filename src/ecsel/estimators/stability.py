"""How firm is the selection? Bootstrap frequencies of every feature, column or piece in every equation.

The rows of each class are drawn anew with replacement, as many as there are, and the model is fitted to them: the
paper's model with the number of terms and the strength that it has, readable equations by the whole search. For each
equation and feature of the paper's model

    frequency        the share of draws whose equation uses the feature
    sign agreement   of these, the share in which its mean effect has the sign it has in the model
    effect           the mean over the table's rows of ∂z/∂log x, with percentiles over all draws

and for each column of readable equations the same, with the effect of `piece_stability`. Draw i depends on the seed and
on i alone, whatever the number of threads.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from ecsel.estimators import settings
from ecsel.estimators.equations import power_laws
from ecsel.estimators.folds import choose_columns
from ecsel.estimators.options import check_integer
from ecsel.estimators.progress import ProgressBar
from ecsel.estimators.targets import check_target, check_weights, class_weights, known_codes
from ecsel.estimators.training import trainer
from ecsel.fitting import Status
from ecsel.fitting.objective.losses import class_loss
from ecsel.fitting.rows.blocks import one_blas_thread
from ecsel.quality.frames import to_pandas
from ecsel.signomial import FeatureRows, ScoreTerms, term_values
from ecsel.signomial.links import LINKS
from ecsel.tables.reading import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from ecsel.estimators.classifier import ECSELClassifier

    Floats = NDArray[np.float64]
    Draw = tuple[NDArray[np.bool_], Floats]
    """Which features each score uses, and their mean effects, both (scores, features)."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """What the draws say; arrays are (draws, scores, features), `effect` of the model itself (scores, features)."""

    classes: tuple[Any, ...]
    feature_names: tuple[str, ...]
    used: NDArray[np.bool_]
    effects: Floats
    effect: Floats
    n_bootstrap: int

    @property
    def frequency(self) -> Floats:
        """The share of draws whose equation uses the feature, (scores, features)."""
        return np.asarray(self.used.mean(axis=0))

    @property
    def sign_agreement(self) -> Floats:
        """Of the draws that use a feature, the share with the sign of the model (of most, where it has none)."""
        signs = np.sign(self.effects) * self.used
        sign = np.sign(self.effect)
        sign = np.where(sign != 0, sign, np.sign(signs.sum(axis=0)))
        times = self.used.sum(axis=0)
        agreeing = ((signs == sign) & self.used).sum(axis=0)
        return np.where(times > 0, agreeing / np.maximum(times, 1), np.nan)

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return percentiles of the mean effects over all draws, those that do not use the feature being zero."""
        check_level(level)
        low, high = np.quantile(self.effects, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high

    def to_frame(self, level: float = 0.95) -> Any:
        """Return a pandas data frame, a line per class and feature, the most frequent first within a class."""
        low, high = self.interval(level)
        frequency, agreement = self.frequency, self.sign_agreement
        order = [(c, j) for c in range(len(self.classes)) for j in np.argsort(-frequency[c], kind="stable").tolist()]
        columns: dict[str, Any] = {
            "class": [self.classes[c] for c, _ in order],
            "feature": [self.feature_names[j] for _, j in order],
            "frequency": [frequency[at] for at in order],
            "sign_agreement": [agreement[at] for at in order],
            "effect": [self.effect[at] for at in order],
            "low": [low[at] for at in order],
            "high": [high[at] for at in order],
        }
        return to_pandas(columns, "Stability.to_frame()")


def percentiles_of(coefficients: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the ends of the middle part of every column (draws, terms); NaN where no draw has the term."""
    low, high = np.full((2, coefficients.shape[1]), np.nan)
    for k, values in enumerate(coefficients.T):
        if not np.isnan(values).all():
            low[k], high[k] = np.nanquantile(values, [(1 - level) / 2, (1 + level) / 2])
    return low, high


def check_level(level: float) -> None:
    """Refuse what is no level of an interval."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must lie between 0 and 1.")


def stability(
    model: ECSELClassifier, X: Any, y: Any, *, n_bootstrap: int, random_state: Any, sample_weight: Any
) -> Stability:
    """Fit the paper's model to bootstrap draws of the rows; an interrupt keeps the draws that are done."""
    check_integer("n_bootstrap", n_bootstrap, least=1)
    chosen = settings.check(model)
    if model.l1_ is None:
        raise TypeError("readable equations have pieces: see piece_stability")
    labels = check_target(model, read_table(X).n_rows, y)
    weights = check_weights(sample_weight, len(labels))
    codes = known_codes(labels, model.classes_)
    logs = model.encoder_.log_features(X, warn=False)[:, weights > 0]
    codes, weights = codes[weights > 0], weights[weights > 0]
    per_class = class_weights(model.class_weight, model.classes_, codes, weights)[codes]
    loss = class_loss(LINKS[model.link_], len(model.classes_))
    seed = draw_seed(random_state)
    chosen = chosen.of_table(model, model.encoder_, model.classes_.tolist(), loss.n_scores)
    size = (model.n_terms_, model.l1_)
    share = weights / weights.sum()

    def draw(i: int) -> Draw | None:
        drawn = resample(codes, weights, np.random.default_rng([seed, i])) * per_class
        kept = np.flatnonzero(drawn)
        rows = (np.take(logs, kept, axis=1), codes[kept], drawn[kept])
        own = choose_columns(model, chosen, loss, rows, seed)
        result = trainer(model, own, loss, size, seed, n_threads=1)(rows)
        if result.report.status is Status.INTERRUPTED:
            return None
        return used_features(result.terms), mean_effects(result.terms, logs, share)

    done = run_draws(draw, n_bootstrap, chosen.n_threads, verbose=bool(model.verbose))
    equations = list(model.equations_.values())
    terms = power_laws(equations, model.encoder_.feature_names) / (1 / model.temperature_)
    return Stability(
        tuple(model.equations_),
        model.encoder_.feature_names,
        np.stack([used for used, _ in done]),
        np.stack([effects for _, effects in done]),
        mean_effects(terms, logs, share),
        n_bootstrap,
    )


def draw_seed(random_state: Any) -> int:
    """Return the seed of the draws; None means 0."""
    return int(check_random_state(0 if random_state is None else random_state).randint(2**31 - 1))


def run_draws(draw: Callable[[int], Result | None], n: int, n_threads: int, *, verbose: bool) -> list[Result]:
    """Return what the draws give, in their order; an interrupt, or a draw of None, ends them and keeps those before."""
    done: list[Result] = []
    with one_blas_thread(), suppress(KeyboardInterrupt), ProgressBar() if verbose else nullcontext() as progress:
        for result in _finished(draw, n, n_threads):
            done.append(result)
            if progress is not None:
                progress(len(done) / n, f"bootstrap {len(done)} of {n}")
    if not done:
        raise KeyboardInterrupt
    if len(done) < n:
        text = f"The bootstrap was interrupted after {len(done)} of {n} draws, which were kept."
        warnings.warn(text, UserWarning, stacklevel=4)
    return done


def resample(codes: NDArray[np.intp], weights: Floats, rng: np.random.Generator) -> Floats:
    """Draw the rows of each class with replacement in proportion to their weights; the class keeps its weight."""
    drawn = np.zeros(len(codes))
    for c in np.unique(codes):
        members = np.flatnonzero(codes == c)
        total = weights[members].sum()
        drawn[members] = rng.multinomial(len(members), weights[members] / total) * (total / len(members))
    return drawn


def used_features(terms: ScoreTerms) -> NDArray[np.bool_]:
    """Return which features each score uses, (scores, features)."""
    used = np.zeros((terms.n_classes, terms.n_features), dtype=bool)
    np.logical_or.at(used, terms.classes, terms.uses)
    return used


def mean_effects(terms: ScoreTerms, logs: NDArray[np.floating], share: Floats) -> Floats:
    """Return the mean over rows of ∂z_c/∂log x_j = Σ_k β_ckj z_ck, (scores, features)."""
    means = share @ term_values(terms, FeatureRows.from_logs(logs.T))
    effects = np.zeros((terms.n_classes, terms.n_features))
    np.add.at(effects, terms.classes, means[:, None] * terms.exponents)
    return effects


def _finished(draw: Callable[[int], Result | None], n: int, n_threads: int) -> Iterator[Result]:
    """Yield the draws in their order until all are done or an interrupt comes."""
    if n_threads == 1:
        for i in range(n):
            try:
                result = draw(i)
            except KeyboardInterrupt:
                return
            if result is None:
                return
            yield result
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="ecsel-bootstrap") as pool:
        waiting = [pool.submit(draw, i) for i in range(n)]
        try:
            for each in waiting:
                if (result := each.result()) is None:
                    break
                yield result
        except KeyboardInterrupt:
            pass
        finally:
            for each in waiting:
                each.cancel()
