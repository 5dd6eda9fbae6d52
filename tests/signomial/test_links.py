"""Links: what scores mean is asked of one object."""

import pickle

import numpy as np
import pytest

from ecsel.signomial.links import IDENTITY, LINKS, SIGMOID, SOFTMAX, as_link


def test_a_sigmoid_is_a_softmax_whose_first_score_is_zero():
    z = np.random.default_rng(0).normal(0, 3, (20, 1))
    full = SIGMOID.class_scores(z)
    np.testing.assert_array_equal(full[:, 0], 0)
    np.testing.assert_allclose(SIGMOID.outputs(z), SOFTMAX.outputs(full), rtol=1e-14)


def test_a_sure_decision_keeps_its_small_probability():
    assert SIGMOID.outputs(np.array([[40.0]]))[0, 0] == pytest.approx(np.exp(-40), rel=1e-12)


@pytest.mark.parametrize(("link", "n_classes", "scored"), [(SIGMOID, 2, "b"), (SOFTMAX, 3, "abc"), (SOFTMAX, 2, "ab")])
def test_scores_belong_to_classes(link, n_classes, scored):
    classes = "abc"[:n_classes]
    assert link.serves(n_classes)
    assert link.has_classes
    assert link.has_reference == (link is SIGMOID)  # one class has no score of its own
    assert link.scored(classes) == scored
    assert link.n_scores(n_classes) == len(scored)


def test_the_identity_has_no_classes():
    z = np.array([[1.5], [-2.0]])
    assert not IDENTITY.has_classes
    assert not IDENTITY.serves(2)
    assert IDENTITY.outputs(z) is z


@pytest.mark.parametrize("link", LINKS.values(), ids=str)
def test_links_survive_pickling_and_are_found_by_name(link):
    assert pickle.loads(pickle.dumps(link)) == link == as_link(str(link))


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="one of 'sigmoid', 'softmax', 'identity', not 'probit'"):
        as_link("probit")


@pytest.mark.parametrize("link", [SIGMOID, SOFTMAX], ids=str)
def test_a_wrong_number_of_scores_is_refused(link):
    wrong = np.zeros((3, 1 if link is SOFTMAX else 2))
    for call in (link.outputs, link.class_scores):
        with pytest.raises(ValueError, match=f"a {link} takes"):
            call(wrong)
