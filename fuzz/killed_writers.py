"""Processes that are killed while they save a model: the file is one of the models, whole, and drafts are tidied up."""

from __future__ import annotations

import os
import select
import signal
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

import ecsel
from ecsel.files import atomic_write
from fuzz.attack import SERVED, forked

if TYPE_CHECKING:
    import random
    from pathlib import Path

LONGEST = 0.02
"""Seconds after its first file at which a writer is killed at the latest: some ten files."""


class KilledWriters:
    """A writer saves two models over one file in turns, and is killed at a random moment."""

    name = "killed writers"

    def prepare(self, folder: Path) -> None:
        """Fit two models, of files of different lengths."""
        self.folder = folder
        rng = np.random.default_rng(0)
        X = rng.lognormal(size=(80, 3))
        y = X[:, 0] > X[:, 1]
        self.models = [ecsel.ECSELClassifier(n_terms=k, l1=1e-3).fit(X, y) for k in (1, 3)]
        self.contents = set()
        for model in self.models:
            model.save(folder / "whole.json")
            self.contents.add((folder / "whole.json").read_bytes())

    def run(self, rng: random.Random) -> str:
        """Kill one writer and look at what it leaves."""
        path = self.folder / "model.json"
        reported, tell = os.pipe()

        def write() -> None:
            for model in cycle(self.models):
                model.save(path)
                os.write(tell, b".")

        writer = forked(write)
        try:
            os.read(reported, 1)
            select.select([], [], [], rng.uniform(0, LONGEST))
        finally:
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
            os.close(reported)
            os.close(tell)
        if path.read_bytes() not in self.contents:
            raise AssertionError("a file is half written")
        for temporary in self._temporary_files():
            os.utime(temporary, (0, 0))  # as if it were an hour ago
        atomic_write.write_whole(path, b"{}")
        if left := self._temporary_files():
            raise AssertionError(f"drafts are left: {left}")
        return SERVED

    def _temporary_files(self) -> list[Path]:
        return list(self.folder.glob(".model.json.*.tmp"))
