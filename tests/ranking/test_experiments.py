"""Experiments assign people to arms, and the assignment is stable."""

from collections import Counter

import pytest

from tests.ranking.helpers import explanation
from tests.support import Person
from tintype.base.errors import SettingsInvalid
from tintype.base.ids import AccountId
from tintype.ranking import Experiments
from tintype.ranking.experiments import Arm, Experiment
from tintype.wiring import Rooms

PEOPLE = [AccountId(number * 8_388_608 + 1) for number in range(4_000)]


def running(*, share: float = 1.0, salt: str = "", name: str = "colour") -> Experiments:
    return Experiments({name: Experiment({"red": Arm(1), "blue": Arm(3)}, salt, share)}, {})


def test_arms_are_as_large_as_their_parts_and_everybody_stays_in_theirs() -> None:
    first, again = ([running().arm("colour", each) for each in PEOPLE] for _ in range(2))

    assert first == again
    assert Counter(first)["blue"] / len(PEOPLE) == pytest.approx(0.75, abs=0.03)


def test_experiments_assign_arms_independently_of_each_other() -> None:
    one, other = running(), running(name="shape")
    both = Counter((one.arm("colour", each), other.arm("shape", each)) for each in PEOPLE)

    assert both["red", "red"] / len(PEOPLE) == pytest.approx(1 / 16, abs=0.02)


def test_a_growing_share_moves_nobody_who_takes_part_already() -> None:
    small, large = running(share=0.2), running(share=0.6)
    inside = [each for each in PEOPLE if small.arm("colour", each)]

    assert len(inside) / len(PEOPLE) == pytest.approx(0.2, abs=0.03)
    assert all(small.arm("colour", each) == large.arm("colour", each) for each in inside)


def test_an_operator_can_put_everybody_into_one_arm_or_none() -> None:
    forced, ended = Experiments.load(["feed-order=fresh"]), Experiments.load(["feed-order="])

    assert {forced.arm("feed-order", each) for each in PEOPLE} == {"fresh"}
    assert {ended.arm("feed-order", each) for each in PEOPLE} == {""}
    for wrong in ("feed-order=nobody", "unheard=of"):
        with pytest.raises(SettingsInvalid):
            Experiments.load([wrong])


@pytest.mark.parametrize(
    ("arm", "version"), [("fresh", "hand-1/fresh"), ("control", "hand-1"), ("", "hand-1")]
)
async def test_a_viewer_sees_the_arm_and_its_weights_order_the_feed(
    rooms: Rooms, ana: Person, monkeypatch: pytest.MonkeyPatch, arm: str, version: str
) -> None:
    monkeypatch.setattr(rooms.ranking.experiments, "_forced", {"feed-order": arm})
    post = await ana.publish()

    [shown] = (await ana.call("GET", "/accounts/me/experiments")).json()["experiments"]
    explained = await explanation(rooms, ana, post)

    assert shown == {"name": "feed-order", "arm": arm}
    assert (explained.arm, explained.weights) == (arm, version)
