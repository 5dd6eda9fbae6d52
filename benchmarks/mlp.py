"""scikit-learn's MLP with its training loop compiled: the same steps in the same order, a fraction of the seconds.

Of `MLPClassifier` only the loop over epochs is replaced (`hidden_layer.epoch`): starts, order of rows, ridge, Adam and
the rule to stop are its own, so that the weights agree to rounding. One hidden layer, no early stopping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.neural_network import MLPClassifier

from benchmarks.hidden_layer import Adam, Sizes, epoch, parts

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CompiledMLP(MLPClassifier):  # type: ignore[misc]
    """`MLPClassifier` of one hidden layer, fitted by Adam in compiled epochs."""

    coefs_: list[NDArray[np.float64]]
    intercepts_: list[NDArray[np.float64]]

    def _fit_stochastic(self, X: NDArray[np.float64], y: NDArray[np.intp], *_: Any, **__: Any) -> None:
        """Fit the weights that scikit-learn has drawn; called by `fit` in the place of its own loop."""
        if len(self.coefs_) != 2 or self.early_stopping or self.solver != "adam":
            raise ValueError("CompiledMLP has one hidden layer, is fitted by Adam and does not stop early.")
        X = np.ascontiguousarray(X, dtype=np.float64)
        codes = np.asarray(y[:, 0] if y.shape[1] == 1 else y.argmax(axis=1), dtype=np.intp)
        sizes = Sizes(X.shape[1], *self.coefs_[1].shape)
        theta = np.concatenate(
            [part.ravel() for pair in zip(self.coefs_, self.intercepts_, strict=True) for part in pair]
        )
        adam, order = Adam.start(theta), np.arange(len(X))
        batch = min(200, len(X)) if self.batch_size == "auto" else min(self.batch_size, len(X))
        options = (sizes, self.activation == "tanh", self.learning_rate_init, float(self.alpha), np.inf)
        for n_epochs in range(self.max_iter):
            self._random_state.shuffle(shuffled := np.arange(len(X)))
            order = order[shuffled]
            self.loss_ = epoch(adam, n_epochs * -(-len(X) // batch), *options, X, codes, order, batch)
            self.loss_curve_.append(self.loss_)
            self.n_iter_ = n_epochs + 1
            self._update_no_improvement_count(False, None, None, None)
            if self._no_improvement_count > self.n_iter_no_change:
                break
        W, a, V, b = parts(theta, sizes)
        self.coefs_, self.intercepts_ = [W, V], [a, b]
