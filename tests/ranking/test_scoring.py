"""Properties of scores and orders that hold for all features and weights."""

import dataclasses
import time
from itertools import groupby
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shardwright.ids import DEFAULT_EPOCH_MS
from tintype.base.errors import SettingsInvalid
from tintype.ranking.features import ViewerFeatures
from tintype.ranking.outcome_model import FEATURES, OUTCOMES
from tintype.ranking.row_layouts import AFFINITY, INTEREST, POST, PostColumns, short_hash
from tintype.ranking.score_order import ScoreOrder
from tintype.ranking.scoring import PostScorer
from tintype.ranking.weights import Weights, load_weights

NOW = time.time()
WEIGHTS = load_weights()
SCORERS = {name: PostScorer(weights, DEFAULT_EPOCH_MS) for name, weights in WEIGHTS.items()}
HELPFUL = [FEATURES.index(name) for name in ("affinity", "interest", "popularity", "freshness")]
SEEN = FEATURES.index("seen")
unit = st.floats(0, 1, width=32)
rows = st.lists(unit, min_size=len(FEATURES), max_size=len(FEATURES))


def score(scorer: PostScorer, features: list[float]) -> float:
    matrix = np.array([features], np.float32)
    return float(scorer.order.scores(matrix, scorer.model.predict(matrix))[0])


def made(hours_ago: float) -> int:
    return int((NOW - hours_ago * 3600) * 1000 - DEFAULT_EPOCH_MS) << 23


def posts(*authors: int, **columns: Any) -> PostColumns:
    table = np.zeros(len(authors), POST)
    table["author"], table["at"] = authors, int(NOW)
    for name, values in columns.items():
        table[name] = values
    return PostColumns.of(table)


def no_features() -> ViewerFeatures:
    return ViewerFeatures.parse((None, None, None))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(features=rows, more=unit, column=st.sampled_from(HELPFUL), name=st.sampled_from(sorted(WEIGHTS)))
def test_closer_more_interesting_more_popular_or_newer_is_never_worse(
    features: list[float], more: float, column: int, name: str
) -> None:
    better = features.copy()
    better[column] = max(features[column], more)

    assert score(SCORERS[name], better) >= score(SCORERS[name], features) - 1e-6


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(features=rows, name=st.sampled_from(sorted(WEIGHTS)))
def test_having_been_seen_always_lowers_a_score(features: list[float], name: str) -> None:
    features[SEEN] = 0
    seen = features.copy()
    seen[SEEN] = 1

    assert score(SCORERS[name], seen) < score(SCORERS[name], features)


@settings(max_examples=200, deadline=None)
@given(features=rows)
@pytest.mark.slow
def test_outcomes_are_probabilities_and_contributions_add_up_to_them(features: list[float]) -> None:
    model, matrix = SCORERS[""].model, np.array([features], np.float32)
    outcomes = model.predict(matrix)[0]
    bias = [getattr(WEIGHTS[""].outcomes, name).bias for name in OUTCOMES]
    odds = model.contributions(matrix)[0].sum(axis=0) + bias

    assert ((outcomes > 0) & (outcomes < 1)).all()
    assert np.allclose(np.log(outcomes / (1 - outcomes)), odds, atol=1e-2)


@settings(max_examples=300, deadline=None)
@given(
    given_=st.lists(st.tuples(st.floats(0, 10, width=32), st.integers(0, 4)), max_size=60),
    limit=st.integers(1, 4),
)
@pytest.mark.slow
def test_an_order_has_every_post_once_falling_scores_and_no_long_runs_of_an_author(
    given_: list[tuple[float, int]], limit: int
) -> None:
    score_order = ScoreOrder(_with_order(most_in_a_row=limit))
    scores = np.array([each[0] for each in given_], np.float32)
    authors = np.array([each[1] for each in given_], np.uint64)

    rows, final = score_order.arrange(scores, authors)

    assert sorted(rows.tolist()) == list(range(len(given_)))
    assert (np.diff(final) <= 0).all()
    ordered = authors[rows].tolist()
    end = 0
    for author, run in groupby(ordered):
        length = len(list(run))
        end += length
        has_others_left = any(each != author for each in ordered[end:])
        assert author == 0 or length <= limit or not has_others_left


def _with_order(**changes: Any) -> Weights:
    weights = WEIGHTS[""]
    return msgspec.structs.replace(weights, order=msgspec.structs.replace(weights.order, **changes))


def test_without_features_the_newest_come_first_even_after_years() -> None:
    hours = [0.1, 1, 5, 24, 300, 5_000, 15_000]
    ids = np.array([made(each) for each in hours], np.uint64)
    table = PostColumns.of(np.zeros(len(ids), POST))
    scored = SCORERS[""].score(ids, table, no_features(), NOW)

    rows, _ = SCORERS[""].arrange(scored, table.author)

    assert rows.tolist() == list(range(len(hours)))


def test_a_seen_post_ranks_below_equal_posts() -> None:
    ids = np.array([made(1), made(2), made(3)], np.uint64)
    known = dataclasses.replace(no_features(), seen=short_hash(ids[:1]))
    table = posts(1, 2, 3)
    scored = SCORERS[""].score(ids, table, known, NOW)

    assert SCORERS[""].arrange(scored, table.author)[0].tolist() == [1, 2, 0]


def test_closeness_decays_by_half_in_a_half_life() -> None:
    weights, features = WEIGHTS[""], SCORERS[""].features
    affinity = np.array([(7, 3.0, int(NOW))], AFFINITY)
    authors = np.array([7, 8], np.uint64)

    [now, stranger] = features.closeness(affinity, authors, NOW)
    [later, _] = features.closeness(affinity, authors, NOW + weights.affinity.half_life_s)

    assert stranger == 0
    assert np.log1p(-later) == pytest.approx(np.log1p(-now) / 2, rel=1e-3)


def test_every_hashtag_of_a_post_adds_to_the_interest_in_it() -> None:
    known = dataclasses.replace(
        no_features(), interest=np.array([(5, 2.0, int(NOW)), (9, 1.0, int(NOW))], INTEREST)
    )
    table = posts(1, 1, 1, tags=[[5, 0, 0, 0], [5, 9, 0, 0], [1, 2, 3, 4]])
    ids = np.array([made(1)] * 3, np.uint64)

    found = SCORERS[""].score(ids, table, known, NOW).features[:, FEATURES.index("interest")]

    assert found[1] > found[0] > found[2] == 0


@pytest.mark.parametrize(
    "text",
    [
        "not toml at all [",
        "version = 'x'",
        "surprise = 1",
    ],
)
def test_invalid_weights_are_refused(tmp_path: Any, text: str) -> None:
    file = tmp_path / "weights.toml"
    file.write_text(text)

    with pytest.raises(SettingsInvalid):
        load_weights(str(file))
    with pytest.raises(SettingsInvalid):
        load_weights(str(tmp_path / "missing.toml"))
