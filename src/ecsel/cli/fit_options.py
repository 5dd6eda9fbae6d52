"""The options of `ecsel fit` that say what of columns is known and which model is wanted."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ecsel._version import OLD_NAMES_GO_IN
from ecsel.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ecsel.cli.preparing import ColumnOptions, Prepared
    from ecsel.cli.session import Session

COLUMNS, MODEL = "Columns", "Model"
Names = list[str] | None


@dataclass(frozen=True, slots=True)
class KnownColumns:
    """What the user says of columns."""

    drop: Annotated[
        Names, typer.Option(metavar="COLUMN", help="Leave out; may be repeated.", rich_help_panel=COLUMNS)
    ] = None
    keep: Annotated[
        Names,
        typer.Option(metavar="COLUMN", help="Use, although it looks like an identifier.", rich_help_panel=COLUMNS),
    ] = None
    categorical: Annotated[
        Names, typer.Option(metavar="COLUMN", help="Numbers that are names of categories.", rich_help_panel=COLUMNS)
    ] = None
    missing_codes: Annotated[
        str,
        typer.Option(
            metavar="CODES",
            help="Values that mean missing, such as -999,9999; none for none of them.",
            rich_help_panel=COLUMNS,
        ),
    ] = "auto"

    def as_options(self) -> "ColumnOptions":
        """Return the same for the preparation of a table."""
        from ecsel.cli.preparing import ColumnOptions

        codes = _missing_codes(self.missing_codes)
        return ColumnOptions(self.drop or (), self.keep or (), self.categorical or (), codes)


@dataclass(frozen=True, slots=True)
class RequestedModel:
    """Which model the user asks for."""

    increasing: Annotated[
        Names,
        typer.Option(
            metavar="COLUMN", help="Promise: more of it never lowers the second class.", rich_help_panel=MODEL
        ),
    ] = None
    decreasing: Annotated[
        Names, typer.Option(metavar="COLUMN", help="Promise: more of it never raises it.", rich_help_panel=MODEL)
    ] = None
    max_factors: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Most factors of an equation; x*log(y) has two. \\[default: 20]",
            rich_help_panel=MODEL,
        ),
    ] = None
    max_terms: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Most terms of an equation.", rich_help_panel=MODEL)
    ] = None
    n_terms: Annotated[
        int | None,
        typer.Option(
            "--n-terms",
            "--terms",
            min=1,
            metavar="K",
            help="Exactly so many terms; by default chosen.",
            rich_help_panel=MODEL,
        ),
    ] = None
    digits: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Digits of a coefficient; 0 keeps all. \\[default: 2]", rich_help_panel=MODEL
        ),
    ] = None
    thresholds: Annotated[
        bool,
        typer.Option("--thresholds", help="Pieces may be thresholds too, such as \\[age > 40].", rich_help_panel=MODEL),
    ] = False
    l1: Annotated[
        float | None,
        typer.Option(
            "--l1",
            metavar="λ",
            help="The paper's model instead: real exponents, this penalty, and --n-terms.",
            rich_help_panel=MODEL,
        ),
    ] = None
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="Two classes: predict the second from here on; or f1, weighted_f1, youden.",
            rich_help_panel=MODEL,
        ),
    ] = None
    class_weight: Annotated[
        str | None, typer.Option(metavar="balanced", help="Let rare classes count more.", rich_help_panel=MODEL)
    ] = None
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Probabilities to rely on, by a temperature.", rich_help_panel=MODEL)
    ] = False
    criterion: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="Of a quantity: the exact law (law, the default) or the equation that predicts best (prediction).",
            rich_help_panel=MODEL,
        ),
    ] = ""
    select: Annotated[
        str,
        typer.Option(metavar="N", help="The equation of the front with so many factors.", rich_help_panel=MODEL),
    ] = ""
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop the search then, with the best so far.", rich_help_panel=MODEL),
    ] = None

    def with_new_names(self, session: "Session") -> "RequestedModel":
        """Return the options with a criterion taken from its old name, and say so."""
        if self.select not in {"law", "prediction"}:
            return self
        session.note(
            f"--select {self.select} is now --criterion {self.select}; the old name goes in {OLD_NAMES_GO_IN}."
        )
        return replace(self, criterion=self.select, select="")

    @property
    def goal(self) -> str:
        """What a quantity asks for: a number of factors is one of a prediction."""
        return self.criterion or ("prediction" if self.select.isdigit() else "law")

    @property
    def handles_rare_classes(self) -> bool:
        """Whether the user has thought of classes with few rows."""
        return self.threshold is not None or self.class_weight is not None

    def arguments(self, prepared: "Prepared", columns: "ColumnOptions") -> dict[str, Any]:
        """Return the arguments that were given, for the estimator of the task."""
        if self.l1 is not None and self.n_terms is None:
            raise CommandError("--l1 belongs to the paper's model, which has a given number of terms: add --n-terms K.")
        promises = {**dict.fromkeys(self.increasing or (), +1), **dict.fromkeys(self.decreasing or (), -1)}
        of_search = {
            "max_factors": self.max_factors,
            "digits": self.digits,
            "thresholds": self.thresholds or None,
            **columns.as_arguments(),
        }
        of_classes = {
            "l1": self.l1,
            "threshold": _threshold(self.threshold),
            "class_weight": self.class_weight,
            "calibrate": self.calibrate or None,
            "monotone": promises or None,
        }
        chosen = self._of_task(prepared, of_search, of_classes)
        return chosen | {"n_terms": self.n_terms or "auto", "max_terms": self.max_terms, "time_limit": self.time_limit}

    def _of_task(self, prepared: "Prepared", of_search: dict[str, Any], of_classes: dict[str, Any]) -> dict[str, Any]:
        """Return what the task takes; a law knows neither kind."""
        if prepared.task.kind == "classification":
            if self.criterion:
                raise CommandError(f"--criterion is for a quantity, but {prepared.target!r} is taken for classes.")
            _check_threshold(prepared, of_classes["threshold"])
            given, foreign, implied = {**of_search, **of_classes}, {}, {}
        elif self.goal == "prediction":
            given, foreign, implied = of_search, of_classes, {"criterion": self.goal}
        elif self.goal == "law":  # it is sought in the columns that were prepared for it
            given, foreign, implied = {}, {**of_classes, **of_search}, {"criterion": self.goal}
        else:
            raise CommandError(f"--criterion {self.criterion!r}: use law or prediction.")
        for name, value in foreign.items():
            if value is not None and name not in {"drop", "keep", "categorical", "missing_codes"}:
                hint = "; --criterion prediction takes it" if name in of_search else ""
                option = name.replace("_", "-")
                raise CommandError(f"--{option} is for classes, but {prepared.target!r} is taken for a quantity{hint}.")
        chosen = {name: value for name, value in given.items() if value is not None}
        if "digits" in chosen:
            chosen["digits"] = chosen["digits"] or None
        return {**implied, **chosen}

    def chooser(self) -> "Callable[[Any], Any]":
        """Return the function that takes the wanted candidate of a search, the largest of at most so many factors."""
        if not self.select:
            return lambda model: model
        if not self.select.isdigit():
            raise CommandError(f"--select {self.select!r}: it is a number of factors, as the front tells.")
        limit = int(self.select)

        def choose(model: Any) -> Any:
            fitting = [i for i, candidate in enumerate(model.path_) if candidate.size <= limit]
            return model.select(max(fitting, key=lambda i: model.path_[i].size)) if fitting else model

        return choose


def _missing_codes(text: str) -> Any:
    """Return the codes for missing values that a person wrote: numbers, or words."""
    if text == "auto":
        return text
    words = [] if text == "none" else [word.strip() for word in text.split(",")]
    return [_number_or_word(word) for word in words] or None


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _check_threshold(prepared: "Prepared", threshold: float | str | None) -> None:
    """Refuse a threshold of more than two classes, before anything is said of the table."""
    n, name = len(prepared.classes), prepared.target
    if threshold is not None and n > 2:
        raise CommandError(f"--threshold is for two classes, but {name!r} has {n}; the likeliest of them is predicted.")


def _threshold(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
