"""Run the attacks: ``python -m fuzz [--cases N] [--seed S] [--only NAME]``; exits with 1 where one found something."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from fuzz.archives import Archives
from fuzz.attack import UnavailableError, attack
from fuzz.equations import Equations
from fuzz.kernel import Kernel
from fuzz.killed_writers import KilledWriters
from fuzz.model_files import ModelFiles
from fuzz.names import Names
from fuzz.parquet_folders import ParquetFolders
from fuzz.reports import Reports
from fuzz.tables import Tables
from fuzz.threads import Threads

ATTACKS = {
    Equations: 10,
    Kernel: 10,
    ModelFiles: 1,
    Tables: 1,
    ParquetFolders: 1,
    KilledWriters: 0.15,
    Names: 0.1,
    Archives: 0.02,
    Threads: 0.01,
    Reports: 0.01,
}
"""How many cases of each make one of `--cases`: about as many as run in the same time."""


def main(argv: list[str] | None = None) -> int:
    """Run all attacks, or one, and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a part of the name of an attack")
    options = parser.parse_args(argv)
    failed = False
    for kind, share in ATTACKS.items():
        if options.only and options.only not in kind.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            n_cases = max(1, round(share * options.cases))
            try:
                found = attack(kind(), Path(folder), random.Random(options.seed), n_cases)
            except UnavailableError as error:
                sys.stdout.write(f"{kind.name}: not run, {error}\n")
                continue
        sys.stdout.write("\n".join([str(found), *dict.fromkeys(found.failures[:10])]) + "\n")
        sys.stdout.flush()
        failed |= bool(found.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
