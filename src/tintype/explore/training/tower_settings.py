"""Settings of tower training."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TowerSettings:
    """How towers are trained; the defaults suit hundreds of thousands of interactions and more."""

    dimension: int = 128
    batch: int = 1_024
    """People per step, each with one item that they engaged with."""
    negatives: int = 4_096
    """Drawn per step and shared by its people."""
    negative_exponent: float = 0.5
    """0 draws all items alike, 1 in proportion to their popularity; the loss corrects for either."""
    history: int = 24
    """How much of a history a step samples."""
    temperature: float = 0.1
    learning_rate: float = 3e-3
    drop_ids: float = 0.2
    """How often an id's own row is left out where something else is known as well; tokens of people likewise."""
    seed: int = 1
