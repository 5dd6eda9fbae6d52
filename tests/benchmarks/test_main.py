"""The list of benchmarks, and what happens when a library is missing."""

import sys

import pytest

from benchmarks.__main__ import benchmarks, main


def test_every_benchmark_has_a_line(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    listed = capsys.readouterr().out
    assert {"kkt", "fit_speed"} <= set(benchmarks())
    assert not {"tables", "results"} & set(benchmarks())
    for name, line in benchmarks().items():
        assert line
        assert name in listed
        assert line in listed


def test_a_missing_library_is_one_line(monkeypatch, capsys, folder, tmp_path):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    assert main(["fit_speed", "--data", str(folder), "--tables", "iris", "--output", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "The benchmark fit_speed needs xgboost: `make bench` installs it.\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--tables", "iris"], "--data"),
        (["--data", "/nowhere"], "not a folder"),
        (["--data", "{folder}", "--tables", "iriss"], "'iriss'"),
        (["--data", "{folder}", "--tables", "iris,seeds"], "seeds.csv.gz"),
    ],
)
def test_wrong_options_are_named(options, words, folder, capsys):
    with pytest.raises(SystemExit):
        main(["kkt", *(option.format(folder=folder) for option in options)])
    assert words in capsys.readouterr().err
