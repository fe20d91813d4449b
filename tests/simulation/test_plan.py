from collections import Counter
from math import log

import msgspec
import pytest

from tintype.simulation import Choices, Person, count_followers, how_busy, invent_people, make_plan

CHOICES = Choices(people=2_000, follows=25, hours=24, seed=7)


@pytest.fixture(scope="module")
def people() -> list[Person]:
    return invent_people(CHOICES)


def slope(counts: list[int], first: int, last: int) -> float:
    """How steeply counts fall with their place, on doubly logarithmic paper."""
    points = [(log(place + 1), log(counts[place])) for place in range(first, last)]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    above = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return above / sum((x - mean_x) ** 2 for x, _ in points)


def test_followers_fall_by_a_power_of_the_place(people: list[Person]) -> None:
    counts = sorted(count_followers(people).values(), reverse=True)

    # At the very top everybody follows already, at the very bottom counts are too small to be smooth.
    assert slope(counts, 20, 500) == pytest.approx(-0.8, abs=0.12)
    assert counts[0] > 30 * counts[len(counts) // 2]


def test_people_follow_as_many_as_was_chosen_and_nobody_twice(people: list[Person]) -> None:
    mean = sum(len(person.followees) for person in people) / len(people)

    assert mean == pytest.approx(CHOICES.follows, rel=0.1)
    assert all(len(set(person.followees)) == len(person.followees) for person in people)
    assert all(person.number not in person.followees for person in people)
    assert all(person.followees for person in people)


def test_every_kind_of_person_is_there_and_the_most_followed_are_devoted(people: list[Person]) -> None:
    kinds = Counter(person.habit.name for person in people)
    famous = [number for number, _ in count_followers(people).most_common(10)]

    assert set(kinds) == {"away", "casual", "regular", "devoted"}
    assert kinds["away"] / len(people) == pytest.approx(0.25, abs=0.04)
    assert {people[number].habit.name for number in famous} == {"devoted"}


def test_two_people_can_follow_each_other_and_no_more() -> None:
    both = invent_people(Choices(people=2))

    assert [person.followees for person in both] == [(1,), (0,)]


def test_the_same_seed_makes_the_same_plan_and_another_seed_another() -> None:
    choices = Choices(people=100, seed=3)

    assert make_plan(choices) == make_plan(choices)
    assert make_plan(choices).acts != make_plan(msgspec.structs.replace(choices, seed=4)).acts


def test_the_speed_changes_nothing_about_the_plan() -> None:
    slow, fast = (make_plan(Choices(people=100, speed=speed)) for speed in (10.0, 10_000.0))

    assert (slow.people, slow.acts, slow.watchers) == (fast.people, fast.acts, fast.watchers)


def test_people_sleep_at_night_in_their_own_time(people: list[Person]) -> None:
    plan = make_plan(CHOICES)
    hours = Counter(int(act.at_s / 3600 + people[act.person].zone_h) % 24 for act in plan.acts)

    assert sum(hours[hour] for hour in (2, 3, 4)) * 5 < sum(hours[hour] for hour in (19, 20, 21))
    assert max(hours, key=lambda hour: hours[hour]) in range(18, 23)


@pytest.mark.parametrize("deed", ["read", "post"])
def test_a_day_has_the_mean_it_should(deed: str) -> None:
    busy = [how_busy("read" if deed == "read" else "post", hour) for hour in range(24)]

    assert sum(busy) / 24 == pytest.approx(1.0)


def test_everybody_does_about_as_much_as_their_habit_says() -> None:
    plan = make_plan(CHOICES)
    done = Counter((plan.people[act.person].habit.name, act.deed) for act in plan.acts)
    for habit in {person.habit for person in plan.people}:
        many = sum(person.habit == habit for person in plan.people)
        assert done[habit.name, "read"] == pytest.approx(habit.reads_a_day * many, rel=0.1)
        assert done[habit.name, "post"] == pytest.approx(habit.posts_a_day * many, rel=0.35)


def test_deeds_come_in_order_within_the_day() -> None:
    acts = make_plan(Choices(people=200, hours=1.5)).acts

    assert acts == sorted(acts)
    assert acts
    assert 0 <= acts[0].at_s <= acts[-1].at_s <= 1.5 * 3600


def test_posts_are_watched_for_by_followers_who_read() -> None:
    plan = make_plan(msgspec.structs.replace(CHOICES, probes=50))

    assert len(plan.watchers) == 50
    for place, watcher in plan.watchers.items():
        assert plan.acts[place].deed == "post"
        assert plan.acts[place].person in plan.people[watcher].followees
        assert watcher in plan.readers
