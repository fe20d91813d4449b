"""Types of the simulation: its options, people, actions and measurements."""

from typing import Literal, TypeAlias

import msgspec

ActionKind: TypeAlias = Literal["post", "read"]
NEVER = 1_000_000_000
"""A threshold above any follower count: every post is pushed."""
MAX_PEOPLE, MAX_ACTIONS = 100_000, 500_000


class SimulationOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's options. The same options produce the same people and the same actions."""

    people: int = 500
    follows: int = 25
    """How many people each person follows, on average."""
    hours: float = 24.0
    speed: float = 2_000.0
    """Simulated seconds per real second."""
    seed: int = 1
    history: int = 3
    """Posts that each person has before the run starts."""
    probes: int = 300
    """For how many posts of a run a follower's feed is polled until they show."""

    @property
    def wall_s(self) -> float:
        """Real duration of one run."""
        return self.hours * 3_600 / self.speed


class Habit(msgspec.Struct, frozen=True):
    """How much people of one kind post and read per day."""

    name: str
    share: float
    posts_a_day: float
    reads_a_day: float


class SimulatedPerson(msgspec.Struct, frozen=True):
    """A simulated person: habits, time zone, and whom they follow (by number)."""

    number: int
    habit: Habit
    zone_h: float
    """Offset of the local time from UTC."""
    followees: tuple[int, ...]


class Action(msgspec.Struct, frozen=True, order=True):
    """A person posts or reads at a simulated second."""

    at_s: float
    person: int
    kind: ActionKind


class Distribution(msgspec.Struct, frozen=True):
    """Percentiles of measured values; all 0 when nothing was measured."""

    count: int
    p50: float
    p90: float
    p99: float
    max: float


class ThresholdOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements under one threshold."""

    threshold: int
    posts: int
    reads: int
    failed: int
    """Actions that raised an error."""
    stars: int
    """Authors at or above the threshold."""
    read_ms: Distribution
    fresh_ms: Distribution
    """From the response to the author until a follower's feed shows the post."""
    unseen: int
    """Posts that never showed in the polled feed."""
    late_ms: Distribution
    """How far actions ran behind schedule: if it is much, the speed was too high for this machine."""
    entries: int
    """Entries written to timelines and to celebrities' lists for the posts of this run."""
    cpu_s: dict[str, float]
    """CPU time of reading and posting, of the worker and of Redis."""

    @property
    def amplification(self) -> float:
        """Timeline entries written per post."""
        return self.entries / self.posts if self.posts else 0.0

    @property
    def cpu_ms(self) -> float:
        """CPU time per action, of all processes that were measured."""
        actions = self.posts + self.reads
        return sum(self.cpu_s.values()) * 1000 / actions if actions else 0.0


class SimulationReport(msgspec.Struct, frozen=True):
    """Outcomes of all thresholds, with a recommendation."""

    choices: SimulationOptions
    most_followers: int
    outcomes: list[ThresholdOutcome]
    advice: str


def distribution_of(values: list[float]) -> Distribution:
    """Percentiles of the values, by nearest rank."""
    if not values:
        return Distribution(0, 0.0, 0.0, 0.0, 0.0)
    ordered = sorted(values)

    def at(share: float) -> float:
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    return Distribution(len(ordered), at(0.5), at(0.9), at(0.99), ordered[-1])


def name_of(threshold: int) -> str:
    """Display name of a threshold: push, pull, or hybrid with its number."""
    if threshold >= NEVER:
        return "push"
    return "pull" if threshold <= 0 else f"hybrid {threshold:,}"
