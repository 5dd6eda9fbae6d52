"""The kernel beside its NumPy twins: every part of a work runs, and the ratio is that of the seconds."""

import pytest

from benchmarks import twins


@pytest.mark.needs_kernel
def test_one_work_is_measured_with_and_without_the_kernel(tmp_path):
    assert twins.main(["--repeats", "1", "--only", "paper's model, 2 000", "--output", str(tmp_path)]) == 0
    page = (tmp_path / "twins.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith("| paper's model")]
    _, _, fast, slow, ratio, _ = (cell.strip() for cell in line.split("|"))
    assert float(ratio) == pytest.approx(float(slow) / float(fast), abs=0.1 + 0.001 / float(fast) * float(ratio))


def test_the_kernel_is_off_where_it_is_to_be(monkeypatch):
    seen = []

    def run(command, env, **options):
        del options
        seen.append(env["ECSEL_NO_KERNEL"])
        assert "fit(X, y)" in command[-1]
        return type("Done", (), {"stdout": "2.5\n"})

    monkeypatch.setattr(twins.subprocess, "run", run)
    assert [twins.cpu_seconds(next(iter(twins.WORK)), kernel=kernel) for kernel in (True, False)] == [2.5, 2.5]
    assert seen == ["0", "1"]
