"""The query of a scorecard, run in three databases: points and probabilities are those of the card."""

import numpy as np
import pytest

import ecsel


@pytest.mark.parametrize("decimals", [None, 0])
def test_queries_add_up_the_points(encoded_case, database, decimals):
    case = encoded_case
    card = ecsel.scorecard(case.model, pdo=20, base=600, decimals=decimals)
    query = card.to_sql(database.dialect, "t", keep=["the row's number"])
    answers = database.score(case.model, case.rows, query=query)
    n_classes = len(case.view.classes)
    sizes = [
        1 + int(np.sum(~np.array(card.is_constant)[card.view.terms.classes == c])) for c in range(len(card.offsets))
    ]
    for answer, outputs in zip(answers, case.outputs, strict=True):
        p, points = answer[1 : 1 + n_classes], answer[1 + n_classes :]
        if outputs is None:
            assert p == (None,) * n_classes
            continue
        if decimals is None:
            np.testing.assert_allclose(p, outputs, rtol=1e-9, atol=1e-9)
        at = 0
        for size, offset in zip(sizes, card.offsets, strict=True):
            base, *pieces, total = points[at : at + size + 1]
            at += size + 1
            assert base == offset
            assert total == pytest.approx(base + sum(pieces), rel=1e-12)
            if decimals == 0 and abs(total) < 1e9:
                assert all(float(each).is_integer() for each in pieces)
        assert at == len(points)


def test_columns_are_named_by_their_pieces(all_cases, in_duckdb):
    case = all_cases["default_of_two"]
    card = ecsel.scorecard(case.model, toward="no", decimals=0)
    answers = in_duckdb.score(case.model, case.rows, query=card.to_sql("duckdb", keep=["the row's number"]))
    assert answers
    query = card.to_sql("duckdb")
    names = [line for line in query.splitlines() if 'AS "points_' in line or 'AS "base_points"' in line]
    assert len(names) == 2 + int(np.sum(~np.array(card.is_constant)))
    with pytest.raises(ValueError, match="dialect must be one of"):
        card.to_sql("oracle")
