"""What a simulation is made of: the choices, the people, what they will do, and what was measured."""

from typing import Literal, TypeAlias

import msgspec

Deed: TypeAlias = Literal["post", "read"]
NEVER = 1_000_000_000
"""A threshold that nobody reaches: every post is pushed."""
MOST_PEOPLE, MOST_DEEDS = 100_000, 500_000


class Choices(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator may choose. The same choices make the same people do the same things."""

    people: int = 500
    follows: int = 25
    """Whom a person follows, on average."""
    hours: float = 24.0
    speed: float = 2_000.0
    """Simulated seconds in one second."""
    seed: int = 1
    history: int = 3
    """Posts that everybody has from before it begins."""
    probes: int = 300
    """For how many posts of a run somebody watches when they show."""

    @property
    def wall_s(self) -> float:
        """How long one run takes."""
        return self.hours * 3_600 / self.speed


class Habit(msgspec.Struct, frozen=True):
    """How much people of one kind do in a day."""

    name: str
    share: float
    posts_a_day: float
    reads_a_day: float


class Person(msgspec.Struct, frozen=True):
    """Somebody invented: how they live, where, and whom they follow (by number)."""

    number: int
    habit: Habit
    zone_h: float
    """How far the local time is ahead of UTC."""
    followees: tuple[int, ...]


class Act(msgspec.Struct, frozen=True, order=True):
    """Somebody does something at a simulated second."""

    at_s: float
    person: int
    deed: Deed


class Spread(msgspec.Struct, frozen=True):
    """How measured values are distributed; all nought when nothing was measured."""

    count: int
    p50: float
    p90: float
    p99: float
    max: float


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one threshold did to the same people on the same day."""

    threshold: int
    posts: int
    reads: int
    failed: int
    """Deeds that the rooms refused or that broke."""
    stars: int
    """Authors at or above the threshold."""
    read_ms: Spread
    fresh_ms: Spread
    """From the answer to the author until a follower's feed shows the post."""
    unseen: int
    """Probes that never saw their post."""
    late_ms: Spread
    """How far behind its plan the simulation ran: more than a little, and the speed was too high for this machine."""
    entries: int
    """Entries written into timelines and into the lists of stars for the posts of this run."""
    cpu_s: dict[str, float]
    """Processor time of reading and posting, of the worker and of Redis."""

    @property
    def amplification(self) -> float:
        """Timeline entries written per post."""
        return self.entries / self.posts if self.posts else 0.0

    @property
    def cpu_ms(self) -> float:
        """Processor time per deed, of all that was counted."""
        deeds = self.posts + self.reads
        return sum(self.cpu_s.values()) * 1000 / deeds if deeds else 0.0


class Report(msgspec.Struct, frozen=True):
    """Every threshold that was tried."""

    choices: Choices
    most_followers: int
    outcomes: list[Outcome]
    advice: str


def spread_of(values: list[float]) -> Spread:
    """The distribution of some values, by nearest rank."""
    if not values:
        return Spread(0, 0.0, 0.0, 0.0, 0.0)
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return Spread(len(ordered), at(0.5), at(0.9), at(0.99), ordered[-1])


def name_of(threshold: int) -> str:
    """A threshold as people say it."""
    if threshold >= NEVER:
        return "push"
    return "pull" if threshold <= 0 else f"hybrid {threshold:,}"
