"""A bounded map evicts the oldest entry, and only when a new one does not fit."""

from tintype.base.bounded_map import BoundedMap


def test_a_full_map_evicts_the_entry_that_was_inserted_first() -> None:
    entries: BoundedMap[int, str] = BoundedMap(2)
    for key in (1, 2, 3):
        entries[key] = str(key)

    assert entries == {2: "2", 3: "3"}


def test_replacing_a_value_evicts_nothing() -> None:
    entries: BoundedMap[int, str] = BoundedMap(2)
    for key in (1, 2, 1):
        entries[key] = "again"

    assert list(entries) == [1, 2]
