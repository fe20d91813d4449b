"""The Celery tasks, one per event: notifications, the follower mirror, search entries and timelines.

Messages hold all facts that the tasks need, so that nothing is read again; each task is safe to repeat, and is
acknowledged after it has run. Database and Redis connections stay open between tasks.
"""

import re

from celery import Celery
from django.db import OperationalError

from bench.peers.django_social import site  # noqa: F401 - configures Django
from bench.peers.django_social.events import BROKER
from bench.peers.django_social.models import Account, Follower
from bench.peers.django_social.notify import Activity, notify
from bench.peers.django_social.redis_client import get_redis
from bench.peers.django_social.search import index_caption, update_person

MENTION = re.compile(r"(?<![\w.])@([\w.]{1,30})")
TIMELINE_LENGTH = 800
FOLLOWERS_AT_ONCE = 1_000

app = Celery("django_social", broker=BROKER)
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=32,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
)
RETRIED = {"autoretry_for": (OperationalError,), "retry_backoff": True}


@app.task(**RETRIED)
def post_liked(post_id: int, author_id: int, account_id: int) -> None:
    """Notify the post's author."""
    notify(Activity(author_id, "like", account_id, object_id=post_id, group_id=post_id, post_id=post_id))


@app.task(**RETRIED)
def comment_added(comment_id: int, post_id: int, author_id: int, account_id: int, text: str) -> None:
    """Notify the post's author, and everybody else who is mentioned."""
    notify(
        Activity(author_id, "comment", account_id, object_id=comment_id, group_id=post_id, post_id=post_id)
    )
    for mentioned in _mentioned(text) - {author_id}:
        notify(
            Activity(
                mentioned, "mention", account_id, object_id=comment_id, group_id=comment_id, post_id=post_id
            )
        )


@app.task(**RETRIED)
def account_followed(follower_id: int, followee_id: int) -> None:
    """Mirror the follow, drop the follower's timeline, notify the followee and index them by their popularity."""
    Follower.objects.bulk_create(
        [Follower(account_id=followee_id, follower_id=follower_id)], ignore_conflicts=True
    )
    get_redis().delete(f"timeline:{follower_id}")
    update_person(followee_id)
    notify(Activity(followee_id, "follow", follower_id))


@app.task(**RETRIED)
def post_published(post_id: int, author_id: int, caption: str) -> None:
    """Put the post on the followers' timelines, index its caption and notify whom it mentions."""
    followers = Follower.objects.filter(account_id=author_id).values_list("follower_id", flat=True)
    pipeline = get_redis().pipeline(transaction=False)
    for number, follower_id in enumerate(followers.iterator(FOLLOWERS_AT_ONCE), start=1):
        pipeline.lpushx(f"timeline:{follower_id}", post_id)
        pipeline.ltrim(f"timeline:{follower_id}", 0, TIMELINE_LENGTH - 1)
        if number % FOLLOWERS_AT_ONCE == 0:
            pipeline.execute()
    pipeline.execute()
    index_caption(post_id, caption)
    for mentioned in _mentioned(caption):
        notify(
            Activity(mentioned, "mention", author_id, object_id=post_id, group_id=post_id, post_id=post_id)
        )


def _mentioned(text: str) -> set[int]:
    names = set(MENTION.findall(text))
    return set(Account.objects.filter(username__in=names).values_list("pk", flat=True)) if names else set()
