"""scikit-learn's callbacks, from its version 1.9 on: ``model.set_callbacks(ProgressBar())`` shows how far a fit is.

To callbacks a fit is one task with a hundred steps, one for each per cent of the work; the name of a step says what was
being done. They hear of the fit that they are set for, or that a grid search passes them on to. A callback that asks
for a stop is not heeded; `time_limit` and an interrupt end a search early.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ecsel.estimators.progress import progress_also_to

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9
    with_callbacks = None

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """What scikit-learn has from version 1.9 on."""


__all__ = ["CallbackSupportMixin", "tells_callbacks"]

STEPS = 100
Method = TypeVar("Method", bound="Callable[..., Any]")


def tells_callbacks(fit: Method) -> Method:
    """Return a fit that tells the callbacks of its estimator how far it is; without callbacks it is as before."""

    @functools.wraps(fit)
    def reporting_fit(estimator: Any, X: Any, y: Any, *args: Any, **options: Any) -> Any:
        if with_callbacks is None or not getattr(estimator, "_skl_callbacks", None):
            return fit(estimator, X, y, *args, **options)
        return with_callbacks(_fit_by_stages)(estimator, fit, X, y, *args, **options)

    return cast("Method", reporting_fit)


def _fit_by_stages(estimator: Any, fit: Callable[..., Any], X: Any, y: Any, *args: Any, **options: Any) -> Any:
    whole = estimator._init_callback_context(max_subtasks=STEPS)  # noqa: SLF001 - scikit-learn's name for extensions
    whole.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    steps = _Steps(estimator, whole)
    with progress_also_to(steps):
        result = fit(estimator, X, y, *args, **options)
    steps(1.0, "done")
    whole.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: _fitted(estimator))
    return result


def _fitted(estimator: Any) -> dict[str, Any]:
    """Return what a fit has learned: scikit-learn makes an estimator of it for callbacks that score."""
    options = estimator.get_params(deep=False)
    own = {"_skl_callbacks", "_skl_callbacks_to_teardown", "_callback_fit_ctx", "_parent_callback_ctx"}
    return {name: value for name, value in vars(estimator).items() if name not in own and name not in options}


class _Steps:
    """Makes steps for callbacks out of shares of the work; folds report from threads of their own."""

    def __init__(self, estimator: Any, whole: Any) -> None:
        self._estimator, self._whole = estimator, whole
        self._done = 0
        self._lock = threading.Lock()

    def __call__(self, share: float, doing: str) -> None:
        with self._lock:
            while self._done < min(int(share * STEPS), STEPS):
                step = self._whole.subcontext(task_name=doing)
                step.call_on_fit_task_begin(estimator=self._estimator)
                step.call_on_fit_task_end(estimator=self._estimator)
                self._done += 1
