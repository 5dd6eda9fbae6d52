"""`python -m benchmarks <name> [options]`: every module beside this one that has a `main(argv)` is a benchmark.

The list is read from the sources without importing them, so that it is there whatever libraries are installed.
"""

from __future__ import annotations

import argparse
import ast
import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parent


def benchmarks() -> dict[str, str]:
    """Return the name of each benchmark with the first line of its docstring."""
    found = {}
    for path in sorted(FOLDER.glob("[!_]*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body):
            found[path.stem] = (ast.get_docstring(tree) or "").partition("\n")[0]
    return found


def main(argv: list[str]) -> int:
    """Run one benchmark; a library that is not installed is one clear line."""
    known = benchmarks()
    width = max(map(len, known), default=0)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Benchmarks; each has a --help of its own.",
        epilog="\n".join(["benchmarks:", *(f"  {name:<{width}}  {line}" for name, line in known.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=list(known), metavar="name", help="one of the benchmarks below")
    parser.add_argument("options", nargs=argparse.REMAINDER, help="its options")
    chosen = parser.parse_args(argv)
    try:
        return int(import_module(f"benchmarks.{chosen.name}").main(chosen.options))
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library in {"", "ecsel", "benchmarks"}:
            raise
        sys.stderr.write(f"The benchmark {chosen.name} needs {library}: `make bench` installs it.\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
