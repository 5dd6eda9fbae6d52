"""Whatever a command raises is one line and an exit code."""

import pytest
import typer
from typer.testing import CliRunner

from ecsel.cli.app import Commands
from ecsel.cli.errors import CommandError
from ecsel.files import ModelFileError


def run(error):
    app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)

    @app.command()
    def fail():
        raise error

    @app.command()
    def other():
        pass

    result = CliRunner().invoke(app, ["fail"])
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (CommandError("no"), "ecsel: no"),
        (ValueError("column 'x'\n is odd"), "ecsel: column 'x' is odd"),
        (ModelFileError("link", "expected text", "m.json"), "ecsel: m.json: link: expected text"),
        (PermissionError(13, "Permission denied", "data.csv"), "ecsel: data.csv: Permission denied"),
        (ModuleNotFoundError("gone", name="openpyxl"), 'The ecsel command needs openpyxl: pip install "ecsel[cli]"'),
        (MemoryError(), "ecsel: There is not enough memory for this table; use fewer rows or columns."),
    ],
)
def test_errors_are_one_line(error, line):
    assert run(error) == (1, f"{line}\n")


def test_what_nobody_foresaw_is_one_line_with_its_place():
    code, line = run(IndexError("7"))
    assert code == 1
    assert line.startswith("ecsel: Internal error in test_group.py, line ")
    assert line.count("\n") == 1


def test_a_reader_that_goes_away_is_no_error_to_speak_of():
    assert run(BrokenPipeError(32, "Broken pipe")) == (1, "")


def test_an_interrupt_has_its_code():
    assert run(KeyboardInterrupt()) == (130, "")
