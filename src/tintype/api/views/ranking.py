"""Ranking experiments."""

import msgspec


class ExperimentView(msgspec.Struct, frozen=True):
    """A running experiment and the viewer's arm; the arm is empty for those who take no part."""

    name: str
    arm: str


class ExperimentsView(msgspec.Struct, frozen=True):
    """Running experiments, by name."""

    experiments: list[ExperimentView]
