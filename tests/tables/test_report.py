from ecsel.tables import ColumnReport, TransformReport


def test_counts_of_blocks_add_up():
    total = ColumnReport("x", 0.0, 1.0, 1, 2) + ColumnReport("x", 0.0, 1.0, 3, 4, 5, ("a",))
    assert total == ColumnReport("x", 0.0, 1.0, 4, 6, 5, ("a",))


def test_nothing_odd_is_falsy_and_silent():
    report = TransformReport(10, "clip", (ColumnReport("x", 0.0, 1.0),))
    assert not report
    assert str(report) == ""


def test_one_sentence_per_column_and_matter():
    report = TransformReport(
        10, "extrapolate", (ColumnReport("x", 0.0, 1.0, 1, 2), ColumnReport("c", n_unknown=3, unknown=("boat",)))
    )
    assert str(report).splitlines() == [
        "1 of 10 rows lie below the training minimum of 'x' (0.0); the equation extrapolates there.",
        "2 of 10 rows lie above the training maximum of 'x' (1.0); the equation extrapolates there.",
        "3 of 10 rows have a level of 'c' that training never saw ('boat'); it contributes nothing.",
    ]


def test_raw_values_are_clipped_on_both_sides():
    report = TransformReport(10, "clip", (ColumnReport("x", 0.0, 1.0, 1, 2),), clips_above=True)
    assert str(report).splitlines() == [
        "1 of 10 rows lie below the training minimum of 'x' (0.0); they were set to it.",
        "2 of 10 rows lie above the training maximum of 'x' (1.0); they were set to it.",
    ]
