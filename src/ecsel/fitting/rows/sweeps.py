"""The sums of packed rows in single precision, by a compiled pass that unpacks as it goes.

`csrc/sweep.c` reads a chunk as `chunks` packed it and keeps nothing but the loss with its gradient, or with the error
of every row; a pass costs little more than reading the bytes. Curvature is asked of samples in double precision, and
falls to NumPy here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ecsel.fitting import kernel
from ecsel.fitting.objective.sums import NumpySums
from ecsel.fitting.rows.unpacking import PackedBlock

if TYPE_CHECKING:
    from ecsel._typing import Array
    from ecsel.fitting.objective.problem import Problem
    from ecsel.fitting.rows.blocks import Block


@dataclass(frozen=True)
class SweptSums(NumpySums):
    """Loss with gradient or errors from packed rows; all else, and other rows, by NumPy."""

    @classmethod
    def of(cls, problem: Problem) -> SweptSums | None:
        """Return the sums of a problem, None where no compiled pass serves it."""
        served = kernel.sweeps(np.dtype(problem.blocks.dtype), problem.loss.n_classes) and kernel.knows(problem)
        return cls(problem) if served else None

    def loss_and_gradient(self, theta: Array, block: Block) -> tuple[float, Array]:
        """Return both in one pass."""
        if not isinstance(block, PackedBlock):
            return super().loss_and_gradient(theta, block)
        gradient = np.empty(self.problem.size)
        loss = self._sweep(theta, block, gradient, None)
        return loss, gradient / block.unpacker.total

    def loss_and_errors(self, theta: Array, block: Block) -> tuple[float, Array]:
        """Return both in one pass."""
        if not isinstance(block, PackedBlock):
            return super().loss_and_errors(theta, block)
        errors = np.empty(block.stop - block.start, np.float32)
        return self._sweep(theta, block, None, errors), errors

    def _sweep(self, theta: Array, block: PackedBlock, gradient: Array | None, errors: Array | None) -> float:
        packer, chunk = block.unpacker, block.chunk
        kinds = [(2 if packer.has_two_values(j) else 1) if coded else 0 for j, coded in enumerate(chunk.coded)]
        loss = cast("Any", kernel.compiled).sweep(
            kernel.shape_of(self.problem, block.stop - block.start),
            np.array(theta, dtype=np.float64),
            *(block.data, chunk.n_rows, block.start),
            *(np.array(kinds, np.uint8), packer.tables, packer.centre, packer.scale, packer.layout.weighted),
            gradient,
            errors,
        )
        return float(loss) / packer.total
