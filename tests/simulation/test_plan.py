from collections import Counter
from math import log

import msgspec
import pytest

from tintype.simulation import (
    SimulatedPerson,
    SimulationOptions,
    activity_level,
    count_followers,
    generate_people,
    make_plan,
)

CHOICES = SimulationOptions(people=2_000, follows=25, hours=24, seed=7)


@pytest.fixture(scope="module")
def people() -> list[SimulatedPerson]:
    return generate_people(CHOICES)


def slope(counts: list[int], first: int, last: int) -> float:
    """Slope of the counts over their rank, on log-log axes."""
    points = [(log(rank + 1), log(counts[rank])) for rank in range(first, last)]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    above = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return above / sum((x - mean_x) ** 2 for x, _ in points)


def test_follower_counts_follow_a_power_law(people: list[SimulatedPerson]) -> None:
    counts = sorted(count_followers(people).values(), reverse=True)

    # At the very top everybody follows already, at the very bottom counts are too small to be smooth.
    assert slope(counts, 20, 500) == pytest.approx(-0.8, abs=0.12)
    assert counts[0] > 30 * counts[len(counts) // 2]


def test_people_follow_the_chosen_number_and_nobody_twice(people: list[SimulatedPerson]) -> None:
    mean = sum(len(person.followees) for person in people) / len(people)

    assert mean == pytest.approx(CHOICES.follows, rel=0.1)
    assert all(len(set(person.followees)) == len(person.followees) for person in people)
    assert all(person.number not in person.followees for person in people)
    assert all(person.followees for person in people)


def test_every_habit_occurs_and_the_most_followed_are_devoted(people: list[SimulatedPerson]) -> None:
    kinds = Counter(person.habit.name for person in people)
    popular = [number for number, _ in count_followers(people).most_common(10)]

    assert set(kinds) == {"away", "casual", "regular", "devoted"}
    assert kinds["away"] / len(people) == pytest.approx(0.25, abs=0.04)
    assert {people[number].habit.name for number in popular} == {"devoted"}


def test_two_people_can_follow_each_other_and_no_more() -> None:
    both = generate_people(SimulationOptions(people=2))

    assert [person.followees for person in both] == [(1,), (0,)]


def test_the_same_seed_makes_the_same_plan_and_another_seed_another() -> None:
    choices = SimulationOptions(people=100, seed=3)

    assert make_plan(choices) == make_plan(choices)
    assert make_plan(choices).actions != make_plan(msgspec.structs.replace(choices, seed=4)).actions


def test_the_speed_changes_nothing_about_the_plan() -> None:
    slow, fast = (make_plan(SimulationOptions(people=100, speed=speed)) for speed in (10.0, 10_000.0))

    assert (slow.people, slow.actions, slow.watchers) == (fast.people, fast.actions, fast.watchers)


def test_people_sleep_at_night_in_their_own_time(people: list[SimulatedPerson]) -> None:
    plan = make_plan(CHOICES)
    hours = Counter(int(action.at_s / 3600 + people[action.person].zone_h) % 24 for action in plan.actions)

    assert sum(hours[hour] for hour in (2, 3, 4)) * 5 < sum(hours[hour] for hour in (19, 20, 21))
    assert max(hours, key=lambda hour: hours[hour]) in range(18, 23)


@pytest.mark.parametrize("kind", ["read", "post"])
def test_the_mean_activity_of_a_day_is_one(kind: str) -> None:
    busy = [activity_level("read" if kind == "read" else "post", hour) for hour in range(24)]

    assert sum(busy) / 24 == pytest.approx(1.0)


def test_people_are_about_as_active_as_their_habit_says() -> None:
    plan = make_plan(CHOICES)
    done = Counter((plan.people[action.person].habit.name, action.kind) for action in plan.actions)
    for habit in {person.habit for person in plan.people}:
        many = sum(person.habit == habit for person in plan.people)
        assert done[habit.name, "read"] == pytest.approx(habit.reads_a_day * many, rel=0.1)
        assert done[habit.name, "post"] == pytest.approx(habit.posts_a_day * many, rel=0.35)


def test_actions_are_in_chronological_order_within_the_day() -> None:
    actions = make_plan(SimulationOptions(people=200, hours=1.5)).actions

    assert actions == sorted(actions)
    assert actions
    assert 0 <= actions[0].at_s <= actions[-1].at_s <= 1.5 * 3600


@pytest.mark.slow
def test_posts_are_watched_by_followers_who_read() -> None:
    plan = make_plan(msgspec.structs.replace(CHOICES, probes=50))

    assert len(plan.watchers) == 50
    for index, watcher in plan.watchers.items():
        assert plan.actions[index].kind == "post"
        assert plan.actions[index].person in plan.people[watcher].followees
        assert watcher in plan.readers
