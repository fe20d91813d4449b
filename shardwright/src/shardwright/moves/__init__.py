"""Moves of shards between servers while they are used, by logical replication; every step is journalled.

Owns the journal's rows in the directory, and publications, slots, subscriptions and marker tables of servers whose
names begin with `shardwright_move_`.
"""

from shardwright.moves.errors import MoveFailed, MoveRefused
from shardwright.moves.models import Move, MoveOptions, MoveProgress, OnProgress, OnStep, Step
from shardwright.moves.mover import Mover
from shardwright.moves.progress_bar import move_bar
from shardwright.moves.sweep import Leftover, drop_leftovers, find_leftovers

__all__ = [
    "Leftover",
    "Move",
    "MoveFailed",
    "MoveOptions",
    "MoveProgress",
    "MoveRefused",
    "Mover",
    "OnProgress",
    "OnStep",
    "Step",
    "drop_leftovers",
    "find_leftovers",
    "move_bar",
]
