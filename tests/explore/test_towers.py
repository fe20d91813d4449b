"""The towers: the loss, what training learns from, and what serving makes of it."""

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.explore.helpers import BUCKETS, SMALL, circle_of_item, circle_of_person, item_at, two_circles
from tintype.explore import (
    ItemFeatures,
    PersonFeatures,
    TowerModel,
    TowerStore,
    TrainingDataInvalid,
    TrainingDiverged,
)
from tintype.explore.training import TowerTraining, TrainingSet
from tintype.explore.training.sampled_softmax import sampled_softmax, sampling_distribution


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_the_sampled_loss_tends_to_the_full_softmax_however_negatives_are_drawn(exponent: float) -> None:
    logits = jnp.asarray(np.random.default_rng(1).normal(0, 1, 40), jnp.float32)
    drawn = sampling_distribution(jnp.arange(40.0) ** 2, exponent)
    negatives = jax.random.choice(jax.random.key(2), 40, (200_000,), p=drawn)
    log_expected = jnp.log(200_000 * drawn[negatives])

    loss = sampled_softmax(logits[3:4], logits[negatives][None], log_expected, (negatives == 3)[None])

    assert np.allclose(loss, -jax.nn.log_softmax(logits)[3], atol=0.02)


def test_a_negative_that_is_the_positive_does_not_count() -> None:
    positive, negative = jnp.array([1.0]), jnp.array([[1.0, 1.0]])

    loss = sampled_softmax(positive, negative, jnp.zeros(2), jnp.array([[True, False]]))

    assert np.allclose(loss, np.log(2))


def test_people_are_near_the_items_of_their_circle_by_all_that_is_known_and_by_their_history_alone(
    model: TowerModel,
) -> None:
    vectors, interactions = model.embed_items([item_at(int(each)) for each in model.item_ids]), two_circles()
    for row, person in enumerate(model.person_ids.tolist()):
        circle = circle_of_person(person)
        engaged = interactions.item_ids[interactions.history(row)]
        known = PersonFeatures(person, engaged, (50 + circle,), (f"circle{circle}",))
        for each in (known, PersonFeatures(engaged=engaged)):
            best = model.item_ids[np.argsort(-(vectors @ model.embed_person(each).values))[:5]]
            assert {circle_of_item(int(item)) for item in best} == {circle}


def test_what_is_new_is_placed_by_its_content(model: TowerModel) -> None:
    fresh = [ItemFeatures(9_999, 50 + circle, (f"circle{circle}",)) for circle in (0, 1)]
    vectors = model.embed_items(fresh)
    for circle in (0, 1):
        person = PersonFeatures(author_ids=(50 + circle,), tags=(f"circle{circle}",))
        scores = vectors @ model.embed_person(person).values
        assert scores[circle] > scores[1 - circle]


def test_nothing_known_is_a_vector_of_zeros(model: TowerModel) -> None:
    assert not model.embed_person(PersonFeatures(person_id=1)).values.any()
    assert not model.embed_items([ItemFeatures(1)]).any()


def test_training_twice_from_one_seed_gives_one_model(content: TrainingSet) -> None:
    first, second = TowerTraining(content, SMALL), TowerTraining(content, SMALL)

    assert first.run_epoch() == second.run_epoch()
    assert np.array_equal(first.model("1").weights.items, second.model("1").weights.items)


def test_rows_that_no_batch_touches_stay_as_they_were(content: TrainingSet) -> None:
    training = TowerTraining(content, SMALL)
    before = training.model("1").weights.tokens
    training.run_epoch()
    used = np.unique(np.concatenate([content.item_tokens[0].ravel(), content.person_tokens[0].ravel()]))
    unused = np.setdiff1d(np.arange(BUCKETS), used)

    after = training.model("1").weights.tokens

    assert np.array_equal(after[unused], before[unused])
    assert not np.array_equal(after[used], before[used])


def test_features_that_are_not_finite_are_refused(content: TrainingSet) -> None:
    picture = np.array([1, np.nan], np.float32)

    with pytest.raises(TrainingDataInvalid):
        TrainingSet.of(content.interactions, [ItemFeatures(1_000, picture=picture)])


def test_a_batch_that_is_not_finite_changes_nothing(content: TrainingSet) -> None:
    poisoned = replace(content, graph=np.full_like(content.graph, np.nan))
    training = TowerTraining(poisoned, SMALL)
    before = training.model("1").weights

    with pytest.raises(TrainingDiverged):
        training.run_epoch()

    after = training.model("1").weights
    assert all(np.array_equal(vars(before)[name], each) for name, each in vars(after).items())


@pytest.mark.slow
def test_the_batches_of_one_poisoned_person_are_refused_and_the_others_train(content: TrainingSet) -> None:
    graph = np.zeros_like(content.graph)
    graph[0] = np.inf
    training = TowerTraining(replace(content, graph=graph), replace(SMALL, batch=8))

    report = training.run_epoch()

    assert 0 < report.refused_steps <= 10
    assert np.isfinite(report.loss)
    assert np.isfinite(training.model("1").weights.items).all()


def test_an_erased_person_or_item_is_gone_for_readers_that_are_open(
    model: TowerModel, tmp_path: Path
) -> None:
    store = TowerStore(tmp_path)
    store.publish(model)
    reader, person, item = store.open(), int(model.person_ids[3]), int(model.item_ids[0])

    store.erase_people([person])
    store.erase_items([item])

    assert person not in reader.person_ids
    assert item not in reader.item_ids
    assert not reader.weights.people[3].any()
    assert not reader.weights.items[0].any()
    assert not reader.embed_person(PersonFeatures(person, engaged=[item])).values.any()
    assert reader.embed_person(PersonFeatures(int(model.person_ids[2]))).values.any()
