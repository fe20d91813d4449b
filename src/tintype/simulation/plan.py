"""Everything that chance decides, decided before it begins, so that every threshold meets the same day."""

from collections import Counter
from collections.abc import Sequence
from random import Random

import msgspec

from tintype.simulation.days import plan_day
from tintype.simulation.models import Act, Choices, Person
from tintype.simulation.population import count_followers, invent_people


class Plan(msgspec.Struct, frozen=True):
    """Who lives here, what they will do, and who watches for which post."""

    choices: Choices
    people: list[Person]
    acts: list[Act]
    watchers: dict[int, int]
    """By the place of a post in `acts`, the number of the follower who watches for it."""

    @property
    def followers(self) -> Counter[int]:
        """How many follow each."""
        return count_followers(self.people)

    @property
    def readers(self) -> list[int]:
        """Those who come back to read: they have timelines."""
        return [person.number for person in self.people if person.habit.reads_a_day]


def make_plan(choices: Choices) -> Plan:
    """The same plan for the same choices."""
    people = invent_people(choices)
    acts = plan_day(people, choices)
    return Plan(choices, people, acts, _choose_watchers(people, acts, choices))


def _choose_watchers(people: Sequence[Person], acts: Sequence[Act], choices: Choices) -> dict[int, int]:
    """For some posts one of the followers who read; a post that nobody would read is not watched."""
    chance = Random(f"{choices.seed}/watchers")  # noqa: S311 - the same every time, on purpose
    readers: dict[int, list[int]] = {}
    for person in people:
        if person.habit.reads_a_day:
            for followee in person.followees:
                readers.setdefault(followee, []).append(person.number)
    posts = [place for place, act in enumerate(acts) if act.deed == "post" and readers.get(act.person)]
    chosen = chance.sample(posts, min(choices.probes, len(posts)))
    return {place: chance.choice(readers[acts[place].person]) for place in sorted(chosen)}
