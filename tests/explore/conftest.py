"""One small trained model for all tests of explore: compiling the training takes longer than running it."""

import pytest

from tests.explore.helpers import BUCKETS, SMALL, circle_of_person, item_at, two_circles
from tintype.explore import PersonFeatures, TowerModel
from tintype.explore.training import TowerTraining, TrainingSet


@pytest.fixture(scope="session")
def content() -> TrainingSet:
    """Two circles whose items carry the tag of the circle, and whose people follow it and its author."""
    interactions = two_circles()
    people = [
        PersonFeatures(
            each, author_ids=(50 + circle_of_person(each),), tags=(f"circle{circle_of_person(each)}",)
        )
        for each in interactions.person_ids.tolist()
    ]
    return TrainingSet.of(
        interactions, [item_at(each) for each in interactions.item_ids.tolist()], people, BUCKETS
    )


@pytest.fixture(scope="session")
def model(content: TrainingSet) -> TowerModel:
    training = TowerTraining(content, SMALL)
    reports = [training.run_epoch() for _ in range(80)]
    assert reports[-1].loss < reports[0].loss
    assert not any(each.refused_steps for each in reports)
    return training.model("7")
