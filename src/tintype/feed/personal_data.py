"""The feed room's part in exports and erasure of personal data."""

from collections.abc import AsyncIterator

from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.feed.celebrities import CelebrityLists, CelebrityRegistry
from tintype.feed.followed_tags import FollowedTags
from tintype.feed.post_lists import PostLists


class FeedPersonalData:
    """Exports and erases followed hashtags; erases timelines and celebrity status, made of what other rooms export."""

    def __init__(
        self,
        timelines: PostLists,
        celebrity_lists: CelebrityLists,
        celebrities: CelebrityRegistry,
        tags: FollowedTags,
    ) -> None:
        self._timelines, self._celebrity_lists, self._celebrities = timelines, celebrity_lists, celebrities
        self._tags = tags

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """The hashtags that are followed; the posts of a timeline are exported by the room that stores them."""
        for tag in await self._tags.list_of(account_id):
            yield ExportRecord("followed_hashtags.json", {"tag": tag})

    async def erase(self, account_id: AccountId) -> int:
        """Delete the account's timeline, own list, celebrity status and followed hashtags; returns how many rows."""
        await self._timelines.delete(account_id)
        await self._celebrity_lists.delete(account_id)
        return await self._celebrities.erase(account_id) + await self._tags.erase(account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of this account are left; lists in Redis expire."""
        return await self._celebrities.count(account_id) + await self._tags.count(account_id)
