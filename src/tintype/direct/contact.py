"""Who may write to whom: settings, blocks, and whose messages are requests at first."""

from collections.abc import Sequence

from tintype.base.ids import AccountId
from tintype.base.shard_groups import gather_rows
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import MayNotWrite
from tintype.direct.models import Audience, DirectSettings, MemberState
from tintype.direct.store import QUERIES


class Contact:
    """Decides about first contacts, and stores people's settings."""

    def __init__(self, deps: DirectDependencies) -> None:
        self._shards, self._visibility = deps.shards, deps.visibility

    async def judge(self, by: AccountId, others: Sequence[AccountId]) -> dict[AccountId, MemberState]:
        """How these people come into a thread that `by` begins or adds them to.

        Those who follow `by` are in it at once; for others it is a request. People whom `by` may not see, for a block
        or because their account is not in use, are missing. `MayNotWrite` where somebody takes no messages from `by`.
        """
        visible = await self._visibility.find_accounts(by, others)
        rows = await gather_rows(self._shards, QUERIES.gather_audiences, list(visible)) if visible else ()
        audiences: dict[AccountId, Audience] = {row["account_id"]: row["audience"] for row in rows}
        judged: dict[AccountId, MemberState] = {}
        for each, found in visible.items():
            is_known = found.relation.follows_viewer
            audience = audiences.get(each, "everyone")
            if audience == "nobody" or (audience == "following" and not is_known):
                raise MayNotWrite
            judged[each] = "active" if is_known else "requested"
        return judged

    async def get_settings(self, account_id: AccountId) -> DirectSettings:
        """Somebody's settings."""
        row = await self._shards.owner(account_id).fetch_one(QUERIES.find_settings, account_id=account_id)
        return DirectSettings(**row) if row is not None else DirectSettings()

    async def set_settings(self, account_id: AccountId, settings: DirectSettings) -> None:
        """Replace somebody's settings; conversations that were accepted go on."""
        await self._shards.owner(account_id).execute(
            QUERIES.set_settings,
            account_id=account_id,
            audience=settings.audience,
            preview=settings.preview,
        )
