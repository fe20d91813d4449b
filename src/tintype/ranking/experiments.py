"""Experiments (A/B tests): hashing decides who is in which arm, so that it stays the same without being stored."""

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import msgspec

from tintype.base.errors import SettingsInvalid
from tintype.base.ids import AccountId

DEFAULT_FILE = Path(__file__).with_name("experiments.toml")
MAX_REMEMBERED = 20_000
OUTSIDE = ""
"""The arm of those who do not take part."""


class Arm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One arm of an experiment: its relative size, and the variant of the weights it uses."""

    parts: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    weights: str = ""


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An experiment: `share` of all people are split among its arms."""

    arms: dict[str, Arm]
    salt: str = ""
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 1.0


class Experiments:
    """The running experiments, and which arm everybody is in."""

    def __init__(self, experiments: Mapping[str, Experiment], forced: Mapping[str, str]) -> None:
        self._experiments, self._forced = experiments, forced

    @classmethod
    def load(cls, forced: Iterable[str] = (), file: Path = DEFAULT_FILE) -> "Experiments":
        """The experiments of the package; `forced` puts everybody into one arm, as in feed-order=fresh."""
        found = msgspec.convert(tomllib.loads(file.read_text()), dict[str, Experiment])
        chosen: dict[str, str] = {}
        for each in forced:
            name, _, arm = each.partition("=")
            if name not in found or (arm != OUTSIDE and arm not in found[name].arms):
                raise SettingsInvalid(f"experiments: there is no {each!r} (experiment=arm).")
            chosen[name] = arm
        return cls(found, chosen)

    def arm(self, name: str, account_id: AccountId) -> str:
        """The arm somebody is in; empty for those who do not take part, and for an experiment that does not exist."""
        experiment = self._experiments.get(name)
        if experiment is None:
            return OUTSIDE
        if name in self._forced:
            return self._forced[name]
        if hash_fraction(f"in:{name}:{experiment.salt}", account_id) >= experiment.share:
            return OUTSIDE
        return _draw(experiment, hash_fraction(f"arm:{name}:{experiment.salt}", account_id))

    def arms(self, account_id: AccountId) -> dict[str, str]:
        """The arm somebody is in, for every experiment."""
        return {name: self.arm(name, account_id) for name in sorted(self._experiments)}

    def variants(self) -> set[str]:
        """Every variant of the weights that some arm uses."""
        arms = {
            (name, arm)
            for name, experiment in self._experiments.items()
            for arm in ([self._forced[name]] if name in self._forced else experiment.arms)
        }
        return {self.weights(*each) for each in arms}

    def weights(self, name: str, arm: str) -> str:
        """Which variant of the weights an arm uses; empty for the default weights."""
        experiment = self._experiments.get(name)
        return experiment.arms[arm].weights if experiment and arm in experiment.arms else ""


@lru_cache(maxsize=MAX_REMEMBERED)
def hash_fraction(salt: str, account_id: AccountId) -> float:
    """A number from 0 to 1, uniformly distributed over accounts, and always the same for the same salt and account."""
    digest = hashlib.blake2b(f"{salt}:{account_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def _draw(experiment: Experiment, fraction: float) -> str:
    whole = sum(arm.parts for arm in experiment.arms.values())
    passed = 0
    for name, arm in experiment.arms.items():
        passed += arm.parts
        if fraction * whole < passed:
            return name
    return OUTSIDE
