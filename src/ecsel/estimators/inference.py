"""What a fitted classifier says of its own uncertainty: standard errors of its numbers, stability of its selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from ecsel.estimators import errors
from ecsel.estimators.piece_stability import piece_stability
from ecsel.estimators.stability import stability

if TYPE_CHECKING:
    from ecsel.estimators.errors import StandardErrors
    from ecsel.estimators.stability import Stability
    from ecsel.tables import TableEncoder


class Inference:
    """The methods of a classifier that look at its rows again."""

    standard_errors_: StandardErrors | None
    encoder_: TableEncoder

    def standard_errors(self, X: Any, y: Any, sample_weight: Any = None) -> StandardErrors:
        """Return sandwich standard errors of all numbers of `equations_`, conditional on the selected pieces or terms.

        Given its pieces a readable equation is a generalised linear model. Intercepts and coefficients are fitted once
        more without ridge and rounding; estimates and errors are those of that refit, and the model is left as it is.
        In a softmax the first class is the reference: its intercept is held as it is, and so is its coefficient of a
        piece that every class has; other numbers are relative to them. The paper's model is fitted without its
        penalty, which biases what it shrinks, and has the whole first equation as the reference. The result is also
        kept as `standard_errors_`, from where `summary` and `save` take it.

        Parameters
        ----------
        X, y : table and labels
            The rows of training.
        sample_weight : array of shape (rows,), optional
            An integer weight counts as that many rows.

        Returns
        -------
        StandardErrors
            With `to_frame`, `probabilities` for intervals of probabilities at given rows, and `elasticity` for
            intervals of elasticities.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ecsel import ECSELClassifier
        >>> X, y = load_breast_cancer(as_frame=True, return_X_y=True)
        >>> model = ECSELClassifier(max_terms=2).fit(X.iloc[:, :4], y)
        >>> errors = model.standard_errors(X.iloc[:, :4], y)
        >>> errors.to_frame().columns.tolist()
        ['class', 'parameter', 'piece', 'estimate', 'standard_error', 'low', 'high']
        >>> frame = errors.probabilities(X.iloc[:1, :4])
        >>> bool((frame["low"] < frame["probability"]).all())
        True
        """
        check_is_fitted(self, "equations_")
        result = errors.standard_errors(self, X, y, sample_weight)  # type: ignore[arg-type]
        self.standard_errors_ = result
        return result

    def stability(
        self, X: Any, y: Any, *, n_bootstrap: int = 50, random_state: Any = None, sample_weight: Any = None
    ) -> Stability:
        """Return how often bootstrap draws of the rows select each column and piece, with which sign and effect.

        For readable equations every draw repeats the whole search. Columns are stable, shapes are not: ``log(x)``,
        ``sqrt(x)`` and ``x`` are nearly the same curve over most ranges, and draws that agree on a column may write it
        in another way. Look at the columns first (`columns_to_frame`), then at how often a piece is replaced by another
        shape of the same column (`other_shapes` in `to_frame`). For the paper's model the number of terms and the
        strength stay those of the model, and there is a line for every feature. Draws are spread over `n_jobs` threads,
        progress is shown with `verbose`, and an interrupt keeps the draws that are done.

        Parameters
        ----------
        X, y : table and labels
            The rows of training.
        n_bootstrap : int, default=50
            Draws; within every class as many rows as there are.
        random_state : int, RandomState or None, default=None
            None means 0.
        sample_weight : array of shape (rows,), optional
            Row weights.

        Returns
        -------
        PieceStability of readable equations, Stability of the paper's model.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ecsel import ECSELClassifier
        >>> X, y = load_breast_cancer(as_frame=True, return_X_y=True)
        >>> model = ECSELClassifier(max_terms=2).fit(X.iloc[:, :4], y)
        >>> draws = model.stability(X.iloc[:, :4], y, n_bootstrap=3)
        >>> draws.to_frame().columns.tolist()[:4]
        ['class', 'piece', 'frequency', 'other_shapes']
        >>> float(draws.columns_to_frame()["frequency"].max())
        1.0
        """
        check_is_fitted(self, "equations_")
        look = piece_stability if self.encoder_.is_raw else stability
        return look(
            self,  # type: ignore[arg-type]
            X,
            y,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
            sample_weight=sample_weight,
        )
