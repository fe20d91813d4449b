"""The people of threads as one reader may see them."""

from collections.abc import Iterable
from dataclasses import dataclass

from tintype.base.ids import AccountId
from tintype.direct.dependencies import DirectDependencies
from tintype.graph import STRANGER, VisibleAccount


@dataclass(frozen=True)
class People:
    """Some people, for one reader."""

    visible: dict[AccountId, VisibleAccount]
    hidden: frozenset[AccountId]
    """Those with a block between them and the reader."""


async def find_people(deps: DirectDependencies, reader: AccountId, ids: Iterable[AccountId]) -> People:
    """Whom of these the reader may see; of the others, whom a block hides. Blocks are read where they are made."""
    wanted = set(ids) - {0}
    visible = await deps.visibility.find_accounts(reader, wanted)
    missing = wanted - visible.keys()
    relations = await deps.graph.relations(reader, missing) if missing else {}
    hidden = frozenset(each for each in missing if relations.get(each, STRANGER).has_block)
    return People(visible, hidden)
