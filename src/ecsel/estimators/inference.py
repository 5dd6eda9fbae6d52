"""What a fitted classifier says of its own uncertainty: standard errors of its numbers, stability of its selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from ecsel.estimators import errors, stability

if TYPE_CHECKING:
    from ecsel.estimators.errors import StandardErrors
    from ecsel.estimators.stability import Stability


class Inference:
    """The methods of a classifier that look at its rows again."""

    standard_errors_: StandardErrors | None

    def standard_errors(self, X: Any, y: Any, sample_weight: Any = None) -> StandardErrors:
        """Return sandwich standard errors of all numbers of `equations_`, conditional on the selected terms.

        The selected terms are fitted once more without the penalty, which biases what it shrinks; estimates and errors
        are those of that refit, and the model is left as it is. In a softmax the first class is the reference. The
        result is also kept as `standard_errors_`, from where `summary` and `save` take it.

        Parameters
        ----------
        X, y : table and labels
            The rows of training.
        sample_weight : array of shape (rows,), optional
            An integer weight counts as that many rows.

        Returns
        -------
        StandardErrors
            With `to_frame`, and `elasticity` for intervals of elasticities at given rows.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ecsel import ECSELClassifier
        >>> X, y = load_breast_cancer(as_frame=True, return_X_y=True)
        >>> model = ECSELClassifier(n_terms=1, l1=0.05).fit(X.iloc[:, :4], y)
        >>> frame = model.standard_errors(X.iloc[:, :4], y).to_frame()
        >>> frame["parameter"].unique().tolist()
        ['coefficient', 'exponent', 'slope', 'intercept']
        """
        check_is_fitted(self, "equations_")
        result = errors.standard_errors(self, X, y, sample_weight)  # type: ignore[arg-type]
        self.standard_errors_ = result
        return result

    def stability(
        self, X: Any, y: Any, *, n_bootstrap: int = 50, random_state: Any = None, sample_weight: Any = None
    ) -> Stability:
        """Return how often bootstrap draws of the rows select each feature, with which sign and effect.

        The number of terms and the strength stay those of the model; draws are spread over `n_jobs` threads, progress
        is shown with `verbose`, and an interrupt keeps the draws that are done.

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

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from ecsel import ECSELClassifier
        >>> X, y = load_breast_cancer(as_frame=True, return_X_y=True)
        >>> model = ECSELClassifier(n_terms=1, l1=0.05).fit(X.iloc[:, :4], y)
        >>> frame = model.stability(X.iloc[:, :4], y, n_bootstrap=5).to_frame()
        >>> float(frame["frequency"].max())
        1.0
        """
        check_is_fitted(self, "equations_")
        return stability.stability(
            self,  # type: ignore[arg-type]
            X,
            y,
            n_bootstrap=n_bootstrap,
            random_state=random_state,
            sample_weight=sample_weight,
        )
