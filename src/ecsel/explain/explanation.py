"""`Explanation`: numbers with names, the cells where they are defined, and the way to frames, figures and SHAP.

The axes of ``values`` are some of row, class, term and feature. A cell without a meaning, such as the elasticity of a
score that is not positive, is False in ``mask``, NaN in ``values``, and named with its reason in the frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ecsel.explain.frames import frame_like, row_labels, table_values
from ecsel.explain.optional import import_optional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ecsel._typing import Floats, Mask
    from ecsel.explain.view import ModelView

Units: TypeAlias = Literal["model", "raw"]

ROW_CLASS_FEATURE = ("row", "class", "feature")
NO_TERM = "the class has no such term"


@dataclass(frozen=True, eq=False)
class Undefined:
    """Cells that have no value, and why."""

    cells: Mask
    """Broadcasts to the shape of the values."""
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Explanation:
    """Values for rows, classes and features, with their names.

    Attributes
    ----------
    name : str
        The quantity, as the function that made it is called.
    values : array
        The numbers; NaN where ``mask`` is False.
    mask : boolean array
        Where the values are defined; the shape of ``values``.
    axes : tuple of str
        The meaning of each axis of ``values``: ``"row"``, ``"class"``, ``"term"``, ``"feature"``.
    feature_names : tuple of str
        The labels of the feature axis: features of the equations in model units, columns of the table in raw units.
    classes : tuple
        The labels of the class axis. With a sigmoid, scores have the second class alone.
    base_values : array, optional
        What the values add up from: the baseline's score, or the background's mean.
    error : array, optional
        The error of an approximation; see the function that made it.
    signs : array (rows, classes, terms), optional
        The signs of the terms, of which `log_additive` explains the logarithm of the size.
    share : array, optional
        Of an average over rows, the share of the rows in which it is defined.
    units : str
        ``"model"`` or ``"raw"``.
    undefined : tuple of Undefined
        The reasons for the cells that are not defined.

    Examples
    --------
    >>> from ecsel import Signomial
    >>> from ecsel import explain
    >>> result = explain.elasticity(Signomial.parse("3*x**2 - y"), [[1.0, 2.0], [1.0, 9.0]])
    >>> result.mask[:, 0, 0]
    array([ True, False])
    >>> print(result.to_frame())
       row       class feature  value                          note
    0    0  prediction       x    6.0
    1    0  prediction       y   -2.0
    2    1  prediction       x    NaN  — the score is not positive
    3    1  prediction       y    NaN  — the score is not positive
    """

    name: str
    values: Floats
    axes: tuple[str, ...]
    feature_names: tuple[str, ...]
    classes: tuple[Any, ...]
    units: Units
    view: ModelView = field(repr=False)
    table: Any = field(repr=False)
    base_values: Floats | None = None
    error: Floats | None = None
    signs: Floats | None = None
    share: Floats | None = None
    undefined: tuple[Undefined, ...] = ()

    @property
    def mask(self) -> Mask:
        """Where the values are defined."""
        mask = np.ones(self.values.shape, dtype=bool)
        for each in self.undefined:
            mask &= ~each.cells
        return mask

    @property
    def data(self) -> npt.NDArray[Any]:
        """The values of the features in the explained rows, (rows, features): the table's own, or the equations'."""
        if self.units == "raw":
            return table_values(self.table)
        return self.view.rows(self.table, warn=False).values

    def __repr__(self) -> str:
        shape = " × ".join(
            f"{n} {axis}{'' if n == 1 else 'es' if axis == 'class' else 's'}" for n, axis in self._sizes()
        )
        missing = int(np.count_nonzero(~self.mask))
        note = f"; {missing} cells are not defined" if missing else ""
        return f"<{type(self).__name__} {self.name}: {shape}, {self.units} units{note}>"

    def _sizes(self) -> Sequence[tuple[int, str]]:
        return list(zip(self.values.shape, self.axes, strict=True))

    def to_frame(self) -> Any:
        """Return a tidy frame, one line per cell, in the library of the table that was explained (else pandas).

        Its columns are the axes, ``value`` and, where there is one, ``sign``, ``error`` or ``share``. Where some cells
        are not defined, ``note`` has a dash and the reason.
        """
        shape = self.values.shape
        columns: dict[str, npt.NDArray[Any]] = {}
        for position, axis in enumerate(self.axes):
            labels = self._labels(axis, shape[position])
            place = [1] * len(shape)
            place[position] = -1
            columns[axis] = np.broadcast_to(labels.reshape(place), shape)
        columns["value"] = self.values
        for name, extra in (("sign", self.signs), ("error", self.error), ("share", self.share)):
            if extra is not None:
                columns[name] = np.broadcast_to(extra.reshape(extra.shape + (1,) * (len(shape) - extra.ndim)), shape)
        if self.undefined:
            columns["note"] = self._notes()
        kept = np.ones(shape, dtype=bool)
        for each in self.undefined:
            if each.reason == NO_TERM:  # padding of the term axis, not a cell that a person asked for
                kept &= ~each.cells
        return frame_like(self.table, {name: column[kept] for name, column in columns.items()})

    def _labels(self, axis: str, size: int) -> npt.NDArray[Any]:
        if axis == "row":
            return row_labels(self.table, size)
        if axis == "term":
            return np.arange(1, size + 1)
        names = self.classes if axis == "class" else self.feature_names
        labels = np.empty(size, dtype=object)
        labels[:] = names
        return labels

    def _notes(self) -> npt.NDArray[Any]:
        notes = np.full(self.values.shape, "", dtype=object)
        for each in self.undefined:
            notes[np.broadcast_to(each.cells, notes.shape) & (notes == "")] = f"— {each.reason}"
        return notes

    def importance(self) -> Explanation:
        """Return the mean size over the rows in which a value is defined, with their share: (classes, features).

        A feature that is defined in no row stays undefined.
        """
        if self.axes not in (("row", "class", "feature"), ("row", "feature")):
            raise ValueError(f"{self.name} has the axes {self.axes}; an average over rows needs row, class and feature")
        mask = self.mask
        count = mask.sum(axis=0)
        total = np.where(mask, np.abs(self.values), 0.0).sum(axis=0)
        never = count == 0
        mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=~never)
        reason = self.undefined[0].reason if self.undefined else ""
        return replace(
            self,
            name=f"mean |{self.name}|",
            values=mean,
            axes=self.axes[1:],
            base_values=None,
            error=None,
            share=count / len(mask),
            undefined=(Undefined(never, f"{reason} in any row"),) if never.any() else (),
        )

    def to_shap(self, label: Any = None, *, term: int | None = None) -> Any:
        """Return a `shap.Explanation`, with which SHAP's own plots work.

        Parameters
        ----------
        label
            The class; needed where there are several, unless all are wanted as SHAP's last axis.
        term
            Of `log_additive`, the number of the term, counted from 1.
        """
        shap = import_optional("shap", "to_shap()")
        chosen = self.select(label=label, term=term)
        if "row" not in chosen.axes:
            raise ValueError(f"{self.name} has no rows, so SHAP has no use for it; plot() draws it")
        if missing := int(np.count_nonzero(~chosen.mask)):
            raise ValueError(
                f"{missing} of {chosen.values.size} cells of {self.name} are not defined, which SHAP cannot show; "
                "leave out their rows or columns, or explain another quantity"
            )
        base = np.zeros(chosen.values.shape[1:-1]) if chosen.base_values is None else chosen.base_values
        rows = chosen.values.shape[0]
        return shap.Explanation(
            values=np.moveaxis(chosen.values, -1, 1),
            base_values=np.broadcast_to(base, (rows, *chosen.values.shape[1:-1])),
            data=chosen.data,
            feature_names=list(chosen.feature_names),
            output_names=[str(c) for c in chosen.classes] if "class" in chosen.axes else None,
        )

    def select(self, *, label: Any = None, term: int | None = None) -> Explanation:
        """Return the part of one class and of one term; an only class is taken without being named."""
        result = self
        if "class" in self.axes and (label is not None or len(self.classes) == 1):
            if label is not None and label not in self.classes:
                raise ValueError(f"{label!r} is not among the classes of {self.name}: {list(self.classes)}")
            position = 0 if label is None else self.classes.index(label)
            result = _take(result, "class", position, classes=(self.classes[position],))
        if "term" in self.axes:
            size = self.values.shape[self.axes.index("term")]
            if not 1 <= (term if term is not None else size) <= size or (term is None and size > 1):
                raise ValueError(f"{self.name} has terms 1 to {size}: choose one with term=")
            result = _take(result, "term", (term or 1) - 1)
        return result

    def plot(self, **options: Any) -> Any:
        """Draw the explanation; returns matplotlib's axes. See `ecsel.plotting.plot_explanation` for the options."""
        from ecsel.plotting import plot_explanation  # noqa: PLC0415  # the one door upstairs, opened when it is used

        return plot_explanation(self, **options)


def _take(whole: Explanation, axis: str, position: int, **changes: Any) -> Explanation:
    """Return the part of an explanation at one position of an axis."""
    at = whole.axes.index(axis)
    from_end = at - whole.values.ndim

    def pick(array: Floats | None, *, trailing: int) -> Floats | None:
        """Take from an array that has the axes of the values but for the last `trailing` ones."""
        return None if array is None else np.take(array, position, axis=from_end + trailing)

    full_error = whole.error is not None and whole.error.ndim == whole.values.ndim
    cells = [np.broadcast_to(each.cells, whole.values.shape) for each in whole.undefined]
    return replace(
        whole,
        values=np.take(whole.values, position, axis=at),
        axes=whole.axes[:at] + whole.axes[at + 1 :],
        base_values=pick(whole.base_values, trailing=1),
        error=pick(whole.error, trailing=0 if full_error else 1),
        signs=pick(whole.signs, trailing=1),
        share=pick(whole.share, trailing=0),
        undefined=tuple(
            Undefined(np.take(cell, position, axis=at), each.reason)
            for cell, each in zip(cells, whole.undefined, strict=True)
        ),
        **changes,
    )
