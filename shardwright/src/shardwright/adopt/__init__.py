"""Adoption of an unsharded PostgreSQL database into shards while it is used; every step is journalled.

Owns the directory's tables of adoptions, and in the old database and on servers the schema `shardwright_adopt` with
publications and slots whose names begin like it.
"""

from shardwright.adopt.adopter import Adopter
from shardwright.adopt.checker import CheckReport, Difference
from shardwright.adopt.errors import AdoptFailed, AdoptRefused
from shardwright.adopt.models import ENDED, Adoption, AdoptOptions, AdoptProgress, OnProgress, OnStep, Step
from shardwright.adopt.plan import Placement, Plan, load_plan, parse_plan
from shardwright.adopt.progress_bar import adopt_bar
from shardwright.adopt.propose import Crossing, Proposal, propose
from shardwright.adopt.shadow import ShadowReport

__all__ = [
    "ENDED",
    "AdoptFailed",
    "AdoptOptions",
    "AdoptProgress",
    "AdoptRefused",
    "Adopter",
    "Adoption",
    "CheckReport",
    "Crossing",
    "Difference",
    "OnProgress",
    "OnStep",
    "Placement",
    "Plan",
    "Proposal",
    "ShadowReport",
    "Step",
    "adopt_bar",
    "load_plan",
    "parse_plan",
    "propose",
]
