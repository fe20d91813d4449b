"""The listening side of people: follows, requests, blocks, and accounts that go out of use."""

from tintype.accounts import StatusChanged
from tintype.base.ids import AccountId
from tintype.graph import BlockChanged, FollowChanged, FollowDecided, FollowRequested
from tintype.notifications.hearing import Hearing
from tintype.notifications.kinds import KindName
from tintype.notifications.models import Act
from tintype.notifications.telling import Telling


class Meeting:
    """What happens between people, as acts."""

    def __init__(self, hearing: Hearing, telling: Telling) -> None:
        self._hearing, self._telling = hearing, telling

    async def on_follow(self, event: FollowChanged) -> None:
        """The followed learns of it, or, where it was agreed to, the follower; the request is none any more."""
        request, follow, accepted = _acts(event)
        await self._hearing.unhear(request)
        if not event.is_following:
            await self._hearing.unhear(follow)
            await self._hearing.unhear(accepted)
        elif event.is_approved:
            await self._hearing.hear(accepted)
        else:
            await self._hearing.hear(follow)

    async def on_request(self, event: FollowRequested) -> None:
        """A private account learns who waits at its door."""
        request, _, accepted = _acts(event)
        await self._hearing.unhear(accepted)
        await self._hearing.hear(request)

    async def on_decided(self, event: FollowDecided) -> None:
        """The followee's side took a follow for something else: it is told as what it is."""
        # One more than the change it corrects: newer than that, and older than the next.
        request, follow, _ = _acts(event, later=1)
        if event.state != "active":
            await self._hearing.unhear(follow)
        if event.state == "requested":
            await self._hearing.hear(request)

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


def _between(recipient: AccountId, kind: KindName, actor: AccountId, change_id: int) -> Act:
    return Act(recipient_id=recipient, kind=kind, actor_id=actor, change_id=change_id)


def _acts(event: FollowChanged | FollowRequested | FollowDecided, *, later: int = 0) -> tuple[Act, Act, Act]:
    """What may have to be told of a pair: the request and the follow to one side, the agreement to the other."""
    follower, followee, change_id = event.follower_id, event.followee_id, event.change_id + later
    return (
        _between(followee, "request", follower, change_id),
        _between(followee, "follow", follower, change_id),
        _between(follower, "accepted", followee, change_id),
    )
