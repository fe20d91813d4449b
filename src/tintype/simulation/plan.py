"""All random choices, made before the first run, so that every threshold gets the same day."""

from collections import Counter
from collections.abc import Sequence
from random import Random

import msgspec

from tintype.simulation.models import Action, SimulatedPerson, SimulationOptions
from tintype.simulation.population import count_followers, generate_people
from tintype.simulation.schedule import schedule_actions


class DayPlan(msgspec.Struct, frozen=True):
    """The people, their actions, and which follower watches for which post."""

    choices: SimulationOptions
    people: list[SimulatedPerson]
    actions: list[Action]
    watchers: dict[int, int]
    """By a post's index in `actions`: the number of the follower whose feed is polled for it."""

    @property
    def followers(self) -> Counter[int]:
        """Follower counts by person."""
        return count_followers(self.people)

    @property
    def readers(self) -> list[int]:
        """People who read their feed: they have timelines."""
        return [person.number for person in self.people if person.habit.reads_a_day]


def make_plan(choices: SimulationOptions) -> DayPlan:
    """Generate the plan; the same options give the same plan."""
    people = generate_people(choices)
    actions = schedule_actions(people, choices)
    return DayPlan(choices, people, actions, _choose_watchers(people, actions, choices))


def _choose_watchers(
    people: Sequence[SimulatedPerson], actions: Sequence[Action], choices: SimulationOptions
) -> dict[int, int]:
    """For a sample of posts, one of the followers who read; a post without such a follower is not watched."""
    chance = Random(f"{choices.seed}/watchers")  # noqa: S311 - reproducible on purpose
    readers: dict[int, list[int]] = {}
    for person in people:
        if person.habit.reads_a_day:
            for followee in person.followees:
                readers.setdefault(followee, []).append(person.number)
    posts = [
        index for index, action in enumerate(actions) if action.kind == "post" and readers.get(action.person)
    ]
    chosen = chance.sample(posts, min(choices.probes, len(posts)))
    return {index: chance.choice(readers[actions[index].person]) for index in sorted(chosen)}
