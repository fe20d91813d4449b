"""Moves of shards between servers while they are used, by logical replication; every step is journalled.

Owns the journal's rows in the directory, and publications, slots, subscriptions and marker tables of servers whose
names begin with `shardwright_move_`.
"""

from shardwright.moves.errors import MoveFailed, MoveRefused
from shardwright.moves.journal import read_moves
from shardwright.moves.judgement import Judgement, judge_move
from shardwright.moves.links import drop_slots
from shardwright.moves.models import Move, MoveOptions, MoveProgress, OnProgress, OnStep, Step
from shardwright.moves.mover import Mover
from shardwright.moves.progress_bar import move_bar
from shardwright.moves.room import measure_rooms
from shardwright.moves.sweep import Leftover, drop_leftovers, find_leftovers
from shardwright.moves.throttle import replica_lag_bytes

__all__ = [
    "Judgement",
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
    "drop_slots",
    "find_leftovers",
    "judge_move",
    "measure_rooms",
    "move_bar",
    "read_moves",
    "replica_lag_bytes",
]
