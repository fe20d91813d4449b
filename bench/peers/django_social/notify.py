"""Notifications: activities of one kind about one thing are one entry while it is unread, with exact counts."""

from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from bench.peers.django_social.models import (
    Account,
    Block,
    Mute,
    Notification,
    NotificationActivity,
    NotificationPreference,
)
from bench.peers.django_social.redis_client import get_redis


@dataclass(frozen=True)
class Activity:
    """Something an actor did that a recipient is notified of."""

    recipient_id: int
    kind: str
    actor_id: int
    object_id: int = 0
    group_id: int = 0
    """Activities of one kind and group are one notification while it is unread."""
    post_id: int | None = None


def notify(activity: Activity) -> None:
    """The activity is in the recipient's list, once, if the recipient wants it; live connections are told."""
    if activity.actor_id == activity.recipient_id or not _is_wanted(activity):
        return
    with transaction.atomic():
        key = _key(activity)
        if not NotificationActivity.objects.filter(**key).exists():
            _add(activity, key)
            transaction.on_commit(partial(get_redis().publish, f"notified:{activity.recipient_id}", b""))


def _is_wanted(activity: Activity) -> bool:
    """Whether the recipient exists, has not turned this kind off, and neither blocks nor mutes the actor."""
    actor = activity.actor_id
    blocks = Block.objects.filter(
        Q(blocker=OuterRef("pk"), blocked=actor) | Q(blocker=actor, blocked=OuterRef("pk"))
    )
    mutes = Mute.objects.filter(account=OuterRef("pk"), muted=actor)
    refusals = NotificationPreference.objects.filter(
        account=OuterRef("pk"), kind=activity.kind, audience="off"
    )
    found = Account.objects.filter(
        ~Exists(blocks), ~Exists(mutes), ~Exists(refusals), pk=activity.recipient_id
    )
    return found.exists()


def _key(activity: Activity) -> dict[str, object]:
    return {
        "recipient_id": activity.recipient_id,
        "kind": activity.kind,
        "object_id": activity.object_id,
        "actor_id": activity.actor_id,
    }


def _add(activity: Activity, key: dict[str, object]) -> None:
    """Join the unread notification of the group, under its lock, or open one."""
    entry, is_first = Notification.objects.select_for_update().get_or_create(
        recipient_id=activity.recipient_id,
        kind=activity.kind,
        group_id=activity.group_id,
        is_read=False,
        defaults={"post_id": activity.post_id, "actor_count": 1},
    )
    if is_first:
        Account.objects.filter(pk=activity.recipient_id).update(unread_count=F("unread_count") + 1)
    else:
        is_new_actor = not _has_joined(activity, entry)
        Notification.objects.filter(pk=entry.pk).update(
            actor_count=F("actor_count") + int(is_new_actor), changed_at=timezone.now()
        )
    NotificationActivity.objects.create(**key, notification=entry)


def _has_joined(activity: Activity, entry: Notification) -> bool:
    """Whether the actor is counted in this entry; an actor has one activity of an object, so only comments repeat."""
    if activity.object_id == activity.group_id:
        return False
    return NotificationActivity.objects.filter(notification=entry, actor_id=activity.actor_id).exists()
