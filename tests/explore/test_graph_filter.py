"""The graph filter against the formula of the papers, written out with dense matrices."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.explore.helpers import circle_of_item, circle_of_person, two_circles
from tintype.explore import Interactions, NeighbourListStore
from tintype.explore.training import FilterSettings, GraphFilter


def dense_matrix(interactions: Interactions) -> np.ndarray:
    found = np.zeros((len(interactions.person_ids), len(interactions.item_ids)))
    found[interactions.people, interactions.items] = 1
    return found


def dense_filter(interactions: Interactions, chosen: FilterSettings) -> np.ndarray:
    """Items by items: R~'R~ + low_pass D^-1/2 V V' D^1/2, and minus its own blur."""
    matrix = dense_matrix(interactions)
    of_people, of_items = np.maximum(matrix.sum(1), 1), np.maximum(matrix.sum(0), 1)
    normalised = matrix / np.sqrt(of_people)[:, None] / np.sqrt(of_items)[None, :]
    linear = normalised.T @ normalised
    basis = np.linalg.svd(normalised, full_matrices=False)[2][: chosen.rank].T
    ideal = (basis @ basis.T) / np.sqrt(of_items)[:, None] * np.sqrt(of_items)[None, :]
    blurred = linear + chosen.low_pass * ideal
    return blurred - chosen.sharpening * blurred @ linear


@pytest.mark.parametrize("sharpening", [0.0, 0.7])
def test_scores_equal_the_dense_formula(sharpening: float) -> None:
    interactions, chosen = two_circles(), FilterSettings(rank=2, sharpening=sharpening)
    matrix = dense_matrix(interactions)

    scores = GraphFilter(interactions, chosen).score(sp.csr_matrix(matrix))

    assert np.allclose(scores, matrix @ dense_filter(interactions, chosen), atol=1e-4)


def test_lists_of_full_length_score_as_the_filter_does() -> None:
    interactions, chosen = two_circles(), FilterSettings(rank=2, neighbours=1_000)
    matrix, expected = dense_matrix(interactions), dense_filter(interactions, chosen)
    np.fill_diagonal(expected, 0)
    lists = GraphFilter(interactions, chosen).make_lists("1", threads=2)

    for person in range(len(matrix)):
        scores = lists.score(interactions.item_ids[interactions.history(person)])
        assert np.allclose(scores / 4096, matrix[person] @ expected, atol=2e-3)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 29), st.integers(0, 10))
def test_a_list_holds_the_strongest_neighbours_first_and_not_the_item_itself(length: int, seed: int) -> None:
    interactions = two_circles(seed=seed)
    lists = GraphFilter(interactions, FilterSettings(rank=2, neighbours=length)).make_lists("1")

    assert lists.neighbours.shape == (30, length)
    assert (np.diff(lists.weights.astype(np.float32), axis=1) <= 0).all()
    assert not (lists.neighbours == np.arange(30)[:, None]).any()


def test_people_are_led_to_what_their_circle_engages_with() -> None:
    interactions = two_circles()
    lists = GraphFilter(interactions, FilterSettings(rank=2)).make_lists("1")
    for person, person_id in enumerate(interactions.person_ids):
        history = interactions.item_ids[interactions.history(person)]
        scores = lists.score(history)
        scores[interactions.history(person)] = -np.inf
        assert {circle_of_item(each) for each in lists.strongest(scores, 5).tolist()} == {
            circle_of_person(int(person_id))
        }


def test_unknown_items_say_nothing() -> None:
    lists = GraphFilter(two_circles(), FilterSettings(rank=2)).make_lists("1")

    assert not lists.score([5, 6]).any()
    assert len(lists.strongest(lists.score([]), 10)) == 0


def test_an_erased_item_is_in_no_answer_and_its_list_is_gone_for_readers_that_are_open(
    tmp_path: Path,
) -> None:
    interactions, store = two_circles(), NeighbourListStore(tmp_path)
    store.publish(GraphFilter(interactions, FilterSettings(rank=2)).make_lists("1"))
    reader, (erased, other) = store.open(), interactions.item_ids[:2].tolist()
    assert erased in reader.strongest(reader.score([other]), 30)

    store.erase_items([erased])

    assert erased not in reader.ids
    assert erased not in reader.strongest(reader.score([other]), 30)
    assert not reader.score([erased]).any()
    assert not reader.weights[0].any()
