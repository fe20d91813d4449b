"""Profile pictures: one upload of an account that does not expire and that no post shows."""

from tintype.base.ids import AccountId, MediaId
from tintype.media.deletion import Deletion
from tintype.media.dependencies import MediaDependencies
from tintype.media.errors import MediaNotFound
from tintype.media.store import QUERIES


class Avatars:
    """Sets and removes profile pictures; the one before is deleted with its files."""

    def __init__(self, dependencies: MediaDependencies, deletion: Deletion) -> None:
        self._shards, self._access = dependencies.shards, dependencies.access
        self._accounts, self._deletion = dependencies.accounts, deletion

    async def set(self, account_id: AccountId, media_id: MediaId) -> None:
        """Show an uploaded photo of the account as its avatar, and delete the previous one."""
        folder = await self._keep(account_id, media_id)
        previous = await self._accounts.set_avatar(account_id, folder)
        if previous is not None and previous != folder:
            await self._delete(account_id, previous)

    async def remove(self, account_id: AccountId) -> None:
        """Show no avatar, and delete the one that was shown."""
        previous = await self._accounts.set_avatar(account_id, None)
        if previous is not None:
            await self._delete(account_id, previous)

    async def _keep(self, account_id: AccountId, media_id: MediaId) -> str:
        """Make a waiting upload an avatar, which does not expire; returns its folder."""
        folder = await self._shards.owner(account_id).fetch_value(
            QUERIES.keep_as_avatar, account_id=account_id, media_id=media_id
        )
        if folder is None:
            raise MediaNotFound
        await self._access.invalidate([media_id])
        return folder

    async def _delete(self, account_id: AccountId, folder: str) -> None:
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.find_avatar, account_id=account_id, folder=folder
        )
        await self._deletion.delete([MediaId(row["id"]) for row in rows], only_unposted=True)
