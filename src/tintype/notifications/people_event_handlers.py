"""Reactions to events between people: follows, requests, blocks, and accounts that are deactivated or deleted."""

from tintype.accounts import StatusChanged
from tintype.base.ids import AccountId
from tintype.graph import BlockChanged, FollowChanged, FollowDecided, FollowRequested
from tintype.notifications.kinds import KindName
from tintype.notifications.list_writer import ListWriter
from tintype.notifications.models import Activity
from tintype.notifications.notify import Notifier


class PeopleEventHandlers:
    """Turns events between people into notifications."""

    def __init__(self, notifier: Notifier, writer: ListWriter) -> None:
        self._notifier, self._writer = notifier, writer

    async def on_follow(self, events: list[FollowChanged]) -> None:
        """Notify followees, or followers whose requests were accepted; the requests themselves are retracted."""
        added: list[Activity] = []
        retracted: list[Activity] = []
        for event in events:
            request, follow, accepted = _activities(event)
            if not event.is_following:
                retracted += [request, follow, accepted]
            elif event.is_approved:
                added.append(accepted)
                retracted.append(request)
            else:  # an earlier request has ended by an event of its own
                added.append(follow)
        await self._notifier.apply(added, retracted)

    async def on_request(self, events: list[FollowRequested]) -> None:
        """Notify private accounts of follow requests."""
        activities = [_activities(each) for each in events]
        await self._notifier.apply(
            [request for request, _, _ in activities], [accepted for _, _, accepted in activities]
        )

    async def on_decided(self, event: FollowDecided) -> None:
        """The followee's shard turned a follow into a request or refused it: correct what was notified."""
        # One more than the change it corrects: newer than that, and older than the next.
        request, follow, _ = _activities(event, later=1)
        if event.state != "active":
            await self._notifier.retract(follow)
        if event.state == "requested":
            await self._notifier.notify(request)

    async def on_block(self, event: BlockChanged) -> None:
        """After a block neither of the two finds the other in their list."""
        if event.is_blocked:
            await self._writer.retract_actors(event.blocker_id, [event.blocked_id])
            await self._writer.retract_actors(event.blocked_id, [event.blocker_id])

    async def on_status(self, event: StatusChanged) -> None:
        """An account that is no longer active disappears from every list."""
        if event.status != "active":
            async for recipient in self._notifier.recipients_of(event.account_id):
                await self._writer.retract_actors(recipient, [event.account_id])


def _between(recipient: AccountId, kind: KindName, actor: AccountId, change_id: int) -> Activity:
    return Activity(recipient_id=recipient, kind=kind, actor_id=actor, change_id=change_id)


def _activities(
    event: FollowChanged | FollowRequested | FollowDecided, *, later: int = 0
) -> tuple[Activity, Activity, Activity]:
    """What a pair may be notified of: the followee of the request and the follow, the follower of the acceptance."""
    follower, followee, change_id = event.follower_id, event.followee_id, event.change_id + later
    return (
        _between(followee, "request", follower, change_id),
        _between(followee, "follow", follower, change_id),
        _between(follower, "accepted", followee, change_id),
    )
