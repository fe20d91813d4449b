"""The listening side of people: follows, requests, blocks, and accounts that go out of use."""

from tintype.accounts import StatusChanged
from tintype.base.ids import AccountId
from tintype.graph import BlockChanged, FollowApproved, FollowChanged, FollowRequested, Sight
from tintype.notifications.hearing import Hearing
from tintype.notifications.kinds import KindName
from tintype.notifications.models import Act
from tintype.notifications.telling import Telling


class Meeting:
    """What happens between people, as acts."""

    def __init__(self, sight: Sight, hearing: Hearing, telling: Telling) -> None:
        self._sight, self._hearing, self._telling = sight, hearing, telling

    async def on_follow(self, event: FollowChanged) -> None:
        """A new follower is told; a request that was answered so is not a request any more."""
        request = _between(event.followee_id, "request", event.follower_id, event.change_id)
        await self._hearing.unhear(request)
        follow = _between(event.followee_id, "follow", event.follower_id, event.change_id)
        if not event.is_following:
            await self._hearing.unhear(follow)
        elif not await self._has_agreed(event.followee_id):
            await self._hearing.hear(follow)

    async def on_request(self, event: FollowRequested) -> None:
        """A private account learns who waits at its door."""
        await self._hearing.hear(_between(event.followee_id, "request", event.follower_id, _order(event)))

    async def on_approved(self, event: FollowApproved) -> None:
        """Who waited learns that the door is open."""
        await self._hearing.hear(_between(event.follower_id, "accepted", event.followee_id, _order(event)))

    async def on_block(self, event: BlockChanged) -> None:
        """Neither finds the other in their list."""
        if event.is_blocked:
            await self._telling.take_back_actors(event.blocker_id, [event.blocked_id])
            await self._telling.take_back_actors(event.blocked_id, [event.blocker_id])

    async def on_status(self, event: StatusChanged) -> None:
        """What somebody did leaves every list when their account goes out of use."""
        if event.status != "active":
            async for recipient in self._hearing.recipients_of(event.account_id):
                await self._telling.take_back_actors(recipient, [event.account_id])

    async def _has_agreed(self, followee: AccountId) -> bool:
        """Whoever is private has let the follower in and need not be told."""
        seen = (await self._sight.of(followee, [followee])).get(followee)
        return seen is None or seen.account.is_private


def _between(recipient: AccountId, kind: KindName, actor: AccountId, change_id: int) -> Act:
    return Act(recipient_id=recipient, kind=kind, actor_id=actor, change_id=change_id)


def _order(event: FollowRequested | FollowApproved) -> int:
    return getattr(event, "change_id", 0) or 1
