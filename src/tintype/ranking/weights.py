"""The weights of a file, validated when they are loaded, so that a typo stops the start and not the feed."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec

from tintype.base.errors import SettingsInvalid

DEFAULT_FILE = Path(__file__).with_name("weights.toml")
Positive = Annotated[float, msgspec.Meta(gt=0)]
NonNegative = Annotated[float, msgspec.Meta(ge=0)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class InteractionWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What each kind of interaction is worth, and how it decays."""

    scale: Positive
    half_life_days: Positive = 30.0
    half_life_hours: Positive | None = None
    like: NonNegative = 0.0
    comment: NonNegative = 0.0
    save: NonNegative = 0.0
    share: NonNegative = 0.0
    message: NonNegative = 0.0
    visit: NonNegative = 0.0
    story_view: NonNegative = 0.0
    linger: NonNegative = 0.0

    @property
    def half_life_s(self) -> float:
        """After how many seconds half of it has decayed."""
        return self.half_life_hours * 3_600 if self.half_life_hours else self.half_life_days * 86_400


class Freshness(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How fast posts age."""

    half_after_hours: Positive


class Cadence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How often people post."""

    half_life_days: Positive
    typical_per_day: Positive


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How outcomes become a score, and scores an order."""

    freshness_floor: Share
    seen_factor: Share
    same_author_factor: Share
    most_in_a_row: Annotated[int, msgspec.Meta(ge=1, le=1000)]


class OutcomeWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One outcome: what it is worth, and how each feature changes its likelihood."""

    value: NonNegative
    bias: float
    affinity: float = 0.0
    interest: float = 0.0
    popularity: float = 0.0
    freshness: float = 0.0
    cadence: float = 0.0
    video: float = 0.0
    album: float = 0.0
    seen: float = 0.0


class OutcomesWeights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The weights of each outcome that ranking predicts."""

    like: OutcomeWeights
    comment: OutcomeWeights
    save: OutcomeWeights
    share: OutcomeWeights
    linger: OutcomeWeights


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Everything the order of posts depends on, apart from their features."""

    version: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    affinity: InteractionWeights
    interest: InteractionWeights
    velocity: InteractionWeights
    freshness: Freshness
    cadence: Cadence
    order: Order
    outcomes: OutcomesWeights


def load_weights(path: str = "") -> dict[str, Weights]:
    """The default weights under "" and every variant under its name, from the package or from the file at `path`."""
    file = Path(path).expanduser() if path else DEFAULT_FILE
    try:
        tables = tomllib.loads(file.read_text())
        variants = msgspec.convert(tables.pop("variants", {}), dict[str, dict[str, Any]])
        found = {"": msgspec.convert(tables, Weights)}
        for name, changes in variants.items():
            merged = _merge(tables, changes) | {"version": f"{found[''].version}/{name}"}
            found[name] = msgspec.convert(merged, Weights)
    except (OSError, ValueError, msgspec.ValidationError) as error:
        raise SettingsInvalid(f"The weights in {file} cannot be used: {error}") from error
    return found


def _merge(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, change in changes.items():
        held = merged.get(name)
        if isinstance(held, dict) and isinstance(change, dict):
            merged[name] = _merge(cast("dict[str, Any]", held), cast("dict[str, Any]", change))
        else:
            merged[name] = change
    return merged
