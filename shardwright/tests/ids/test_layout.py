"""Decoding of ids, and which epochs are allowed."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.errors import EpochInvalid, InvalidId
from shardwright.ids import (
    DEFAULT_EPOCH_MS,
    LEGACY_LIMIT,
    MAX_ID,
    MAX_SHARDS,
    Layout,
    check_shard,
    schema_name,
    shard_number,
)

LAYOUT = Layout()
MILLISECONDS = st.integers(257, (1 << 40) - 1)
SHARDS = st.integers(0, MAX_SHARDS - 1)
SEQUENCES = st.integers(0, 1023)


@given(MILLISECONDS, SHARDS, SEQUENCES)
def test_an_id_decodes_to_what_it_was_composed_of(ms: int, shard: int, sequence: int) -> None:
    made = LAYOUT.compose(ms, shard, sequence)
    epoch = datetime.fromtimestamp(DEFAULT_EPOCH_MS / 1000, UTC)
    assert LEGACY_LIMIT < made <= MAX_ID
    assert LAYOUT.id_time(made) == epoch + timedelta(milliseconds=ms)
    assert LAYOUT.id_shard(made) == shard
    assert LAYOUT.id_sequence(made) == sequence


@given(st.tuples(MILLISECONDS, SHARDS, SEQUENCES), st.tuples(MILLISECONDS, SHARDS, SEQUENCES))
def test_ids_sort_by_time_then_shard_then_sequence(
    one: tuple[int, int, int], two: tuple[int, int, int]
) -> None:
    assert (LAYOUT.compose(*one) < LAYOUT.compose(*two)) == (one < two)


@given(MILLISECONDS, SHARDS, SEQUENCES, st.integers(0, 999))
def test_the_smallest_id_of_a_time_is_at_or_below_every_id_generated_since(
    ms: int, shard: int, sequence: int, us: int
) -> None:
    made = LAYOUT.compose(ms, shard, sequence)
    moment = LAYOUT.id_time(made) + timedelta(microseconds=us)
    assert LAYOUT.min_id_at(moment) == LAYOUT.compose(ms, 0, 0) <= made


def test_bounds_hold_outside_the_layouts_time_too() -> None:
    assert LAYOUT.min_id_at(datetime(1999, 12, 31, tzinfo=UTC)) == 0
    assert LAYOUT.min_id_at(datetime(2999, 12, 31, tzinfo=UTC)) == MAX_ID
    with pytest.raises(InvalidId, match="time zone"):
        LAYOUT.min_id_at(datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point


@given(st.integers(0, LEGACY_LIMIT - 1))
def test_legacy_ids_belong_to_shard_0_and_have_no_time(legacy: int) -> None:
    assert LAYOUT.id_shard(legacy) == 0
    with pytest.raises(InvalidId, match="legacy"):
        LAYOUT.id_time(legacy)


@pytest.mark.parametrize("number", [-1, MAX_ID + 1])
def test_invalid_ids_are_refused(number: int) -> None:
    for question in (LAYOUT.id_time, LAYOUT.id_shard, LAYOUT.id_sequence):
        with pytest.raises(InvalidId):
            question(number)


@pytest.mark.parametrize("parts", [(1 << 40, 0, 0), (-1, 0, 0), (1, MAX_SHARDS, 0), (1, -1, 0), (1, 0, 1024)])
def test_what_does_not_fit_its_field_is_refused(parts: tuple[int, int, int]) -> None:
    with pytest.raises(InvalidId):
        LAYOUT.compose(*parts)


def test_an_epoch_must_be_past_so_that_the_first_id_lies_above_legacy_ids() -> None:
    now_ms = time.time_ns() // 1_000_000
    newest = Layout(now_ms - 257)
    assert newest.compose(257, 0, 0) > LEGACY_LIMIT
    for epoch_ms in (now_ms + 1000, now_ms, -1):
        with pytest.raises(EpochInvalid):
            Layout(epoch_ms)


def test_the_doctor_warns_years_before_ids_run_out() -> None:
    assert Layout().find_warning(datetime(2026, 1, 1, tzinfo=UTC)) is None
    assert 33.5 < Layout().years_left(datetime(2026, 1, 1, tzinfo=UTC)) < 34
    assert Layout().years_left() < 34.9
    warning = Layout().find_warning(datetime(2056, 1, 1, tzinfo=UTC))
    assert warning is not None
    assert "2059-11-04" in warning


@given(SHARDS)
def test_a_schema_name_decodes_to_its_shard(number: int) -> None:
    assert len(schema_name(number)) == 5
    assert shard_number(schema_name(number)) == number


@pytest.mark.parametrize(
    "name", ["s42", "s00042", "t0042", "s9999", "s\u0660\u0660\u0664\u0662", "public", "s0042 "]
)
def test_other_schema_names_are_refused(name: str) -> None:
    with pytest.raises(InvalidId):
        shard_number(name)


@pytest.mark.parametrize("number", [-1, MAX_SHARDS])
def test_shards_are_numbered_up_to_8191(number: int) -> None:
    with pytest.raises(InvalidId):
        check_shard(number)
