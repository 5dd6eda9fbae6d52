"""The `ecsel` command. Its libraries (typer, rich, pandas) are an extra; without them it says so in one line."""

import sys

__all__ = ["main"]

_EXTRA = {"typer", "rich", "pandas"}


def main() -> int:
    """Run the command line; the entry point of the `ecsel` script."""
    try:
        from ecsel.cli.app import app

        app()
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in _EXTRA:
            raise
        sys.stderr.write(f'The ecsel command needs {library}: pip install "ecsel[cli]"\n')
        return 1
    return 0
