"""Options under their old names: they still work, with a warning that names the new one."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec

from ecsel._version import OLD_NAMES_GO_IN

if TYPE_CHECKING:
    from collections.abc import Callable

Arguments = ParamSpec("Arguments")


def new_name(options: dict[str, Any], old: str, new: str, *, stacklevel: int) -> dict[str, Any]:
    """Return options in which an old name is replaced by its new one, with a warning where it was used.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     print(new_name({"size": 3}, "size", "n_terms", stacklevel=2))
    {'n_terms': 3}
    >>> print(caught[0].message)
    size= is now n_terms=; the old name goes in 0.4.
    """
    if old not in options:
        return options
    message = f"{old}= is now {new}=; the old name goes in {OLD_NAMES_GO_IN}."
    warnings.warn(message, FutureWarning, stacklevel=stacklevel + 1)
    return {**{name: value for name, value in options.items() if name != old}, new: options[old]}


def renamed_option(old: str, new: str) -> Callable[[Callable[Arguments, None]], Callable[Arguments, None]]:
    """Let a constructor take an option by its old name; its signature, as scikit-learn reads it, has the new one."""

    def wrap(init: Callable[Arguments, None]) -> Callable[Arguments, None]:
        @wraps(init)
        def with_old_name(*args: Arguments.args, **options: Arguments.kwargs) -> None:
            init(*args, **new_name(options, old, new, stacklevel=2))

        return with_old_name

    return wrap
