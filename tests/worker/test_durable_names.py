"""Durables are named after the set of handlers that they serve."""

from tests.worker.conftest import recording
from tintype.worker import durables_of


def test_handlers_of_one_event_share_a_durable_and_another_set_has_another() -> None:
    one, other = recording([], name="tests-one"), recording([], name="tests-other")

    both = durables_of([one, other])

    assert list(both.values()) == [["tests-one", "tests-other"]]
    assert durables_of([other, one]).keys() == both.keys()
    assert durables_of([one]).keys().isdisjoint(both)
    assert all(name.startswith("number_noted-") for name in both)
