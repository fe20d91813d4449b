"""Retrieval: towers, filter and index together, from published files."""

from pathlib import Path

import numpy as np
import pytest

from tests.explore.helpers import circle_of_item, circle_of_person, item_at, two_circles
from tintype.explore import (
    NeighbourListStore,
    PersonFeatures,
    Retriever,
    TowerModel,
    TowerStore,
    VectorIndex,
    VectorIndexWriter,
)
from tintype.explore.training import FilterSettings, GraphFilter

INTERACTIONS = two_circles()


@pytest.fixture(scope="module")
def root(model: TowerModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained and published model of two circles."""
    folder = tmp_path_factory.mktemp("explore")
    TowerStore(folder / "towers").publish(model)
    lists = GraphFilter(INTERACTIONS, FilterSettings(rank=2)).make_lists(model.version)
    NeighbourListStore(folder / "lists").publish(lists)
    vectors = model.embed_items([item_at(each) for each in model.item_ids.tolist()])
    VectorIndexWriter(folder / "index").publish(model.version, model.item_ids, vectors)
    return folder


@pytest.fixture
def retriever(root: Path) -> Retriever:
    return Retriever(
        TowerStore(root / "towers").open(),
        NeighbourListStore(root / "lists").open(),
        VectorIndex(root / "index"),
    )


def person_at(row: int) -> PersonFeatures:
    return PersonFeatures(int(INTERACTIONS.person_ids[row]), INTERACTIONS.item_ids[INTERACTIONS.history(row)])


def test_people_get_what_is_left_of_their_circle_and_nothing_of_their_history(retriever: Retriever) -> None:
    for row in range(10):
        person = person_at(row)
        ids, scores = retriever.retrieve(person, 5)
        assert {circle_of_item(int(each)) for each in ids} == {circle_of_person(person.person_id or 0)}
        assert not np.isin(ids, person.engaged).any()
        assert (np.diff(scores) <= 0).all()


def test_what_is_hidden_is_left_out_and_others_take_its_place(retriever: Retriever) -> None:
    best = retriever.retrieve(person_at(0), 1)[0].tolist()

    found = retriever.retrieve(person_at(0), 5, hidden=best)[0]

    assert len(found) == 5
    assert best[0] not in found


def test_somebody_of_whom_nothing_is_known_is_answered_without_numbers_that_are_not_finite(
    retriever: Retriever,
) -> None:
    ids, scores = retriever.retrieve(PersonFeatures(), 5)

    assert len(ids) == 5
    assert np.isfinite(scores).all()


def test_the_blend_lies_between_its_halves(retriever: Retriever) -> None:
    candidates = retriever.propose(person_at(1))

    by_towers = candidates.ids[np.argsort(-candidates.tower, kind="stable")][:3]
    by_filter = candidates.ids[np.argsort(-candidates.filter, kind="stable")][:3]

    assert candidates.rank(0.0, 3)[0].tolist() == by_towers.tolist()
    assert candidates.rank(1e6, 3)[0].tolist() == by_filter.tolist()


def test_an_item_that_was_erased_from_the_index_is_not_proposed_by_the_filter_either(
    root: Path, retriever: Retriever
) -> None:
    best = int(retriever.retrieve(person_at(2), 1)[0][0])

    VectorIndexWriter(root / "index").erase([best])

    assert best not in retriever.retrieve(person_at(2), 30)[0]
