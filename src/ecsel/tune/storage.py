"""Where trials are kept, so that a search that was killed goes on: SQLite, a journal file, or memory.

A study carries a fingerprint of what was asked: data, folds, space, score, seed. A search that asks for something else
is refused, because its trials would not be comparable.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ecsel.tables import TableEncoder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import optuna
    from numpy.typing import NDArray

    from ecsel.tune.validation import Split

FINGERPRINT = "ecsel"
_DATABASES = (".db", ".sqlite", ".sqlite3")


def import_optuna() -> Any:
    """Return Optuna; where it is absent, say what needs it and how to install it."""
    try:
        import optuna  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError('ecsel.tune needs Optuna: pip install "ecsel[tune]"') from error
    return optuna


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Optuna from printing a line a trial; how much it says otherwise is left as it was."""
    logging = import_optuna().logging
    before = logging.get_verbosity()
    logging.set_verbosity(logging.WARNING)
    try:
        yield
    finally:
        logging.set_verbosity(before)


def open_storage(storage: Any) -> Any:
    """Return Optuna's storage for a path, a database URL, an Optuna storage or None (memory)."""
    optuna = import_optuna()
    if storage is None or isinstance(storage, optuna.storages.BaseStorage):
        return storage
    if not isinstance(storage, (str, os.PathLike)):
        raise TypeError(f"storage={storage!r} must be a path, a database URL, an Optuna storage or None.")
    text = os.fspath(storage)
    if isinstance(text, str) and "://" in text:
        return optuna.storages.RDBStorage(text)
    path = Path(os.fsdecode(text))
    if not path.parent.is_dir():
        raise FileNotFoundError(f"storage={str(path)!r}: the folder {str(path.parent)!r} does not exist.")
    if path.suffix in _DATABASES:
        return optuna.storages.RDBStorage(f"sqlite:///{path}")
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))


def open_study(storage: Any, name: str, asked: Mapping[str, str]) -> optuna.Study:
    """Return the study of that name, new or as it was left; refuse one that was asked for something else."""
    library = import_optuna()
    with quiet():
        study: optuna.Study = library.create_study(
            storage=open_storage(storage), study_name=name, direction="maximize", load_if_exists=True
        )
    known = study.user_attrs.get(FINGERPRINT)
    if known is None:
        if study.trials:
            raise ValueError(f"study_name={name!r} in this storage was not made by ecsel.tune: use another name.")
        study.set_user_attr(FINGERPRINT, dict(asked))
    elif known != dict(asked):
        other = [key for key in asked if known.get(key) != asked[key]]
        raise ValueError(
            f"The study {name!r} in this storage was begun with another {', '.join(other)}: repeat those, or use "
            "another storage or study_name."
        )
    state = library.trial.TrialState
    for trial in study.get_trials(deepcopy=False, states=(state.RUNNING,)):
        study.tell(trial.number, state=state.FAIL)  # its process was killed
    return study


def fingerprint(X: Any, y: NDArray[Any], folds: list[Split]) -> dict[str, str]:
    """Return short digests of the data and of the folds, the same in every process."""
    encoder = TableEncoder.fit(X, scaling="minmax")
    classes, codes = np.unique(y, return_inverse=True)
    data = hashlib.sha256(repr((encoder.feature_names, classes.tolist())).encode())
    data.update(encoder.log_features(X, warn=False).tobytes())
    data.update(codes.astype("<i8").tobytes())
    splits = hashlib.sha256()
    for rows in (part for split in folds for part in split):
        splits.update(f"{len(rows)}:".encode() + rows.astype("<i8").tobytes())
    return {"data": data.hexdigest()[:16], "cv": splits.hexdigest()[:16]}
