"""The home feed as usually written in Django: one query over all followees, with everything joined or prefetched."""

import datetime as dt
import json
from typing import Any

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from bench.peers.django_social.models import Account, Block, Follow, Like, Media, Mute, Post, Save, Token
from bench.peers.django_social.views import refuse, show, viewer_of

PAGE = 20


def feed(request: HttpRequest) -> HttpResponse:
    """The newest posts of the viewer and of everybody they follow."""
    viewer = viewer_of(request)
    if viewer is None:
        return refuse(401, "not_signed_in")
    followed = Follow.objects.filter(follower=viewer).values("followee")
    unwanted = (
        Mute.objects.filter(account=viewer)
        .values("muted")
        .union(
            Block.objects.filter(blocker=viewer).values("blocked"),
            Block.objects.filter(blocked=viewer).values("blocker"),
        )
    )
    posts = (
        Post.objects.filter(Q(author__in=followed) | Q(author=viewer))
        .exclude(author__in=unwanted)
        .select_related("author")
        .prefetch_related("media")
        .annotate(
            is_liked=Exists(Like.objects.filter(post=OuterRef("pk"), account=viewer)),
            is_saved=Exists(Save.objects.filter(post=OuterRef("pk"), account=viewer)),
        )
        .order_by("-id")[:PAGE]
    )
    shown = [_entry(post, viewer) for post in posts]
    return JsonResponse({"posts": shown, "next_cursor": shown[-1]["post_id"] if shown else None})


def _entry(post: Any, viewer: Account) -> dict[str, Any]:
    return show(post, post.author) | {
        "viewer_has_saved": post.is_saved,
        "viewer_is_author": post.author_id == viewer.pk,
    }


def seed_dataset(text: str) -> None:
    """Create the dataset: readers, authors, follows, and posts in their order."""
    town = json.loads(text)
    later = timezone.now() + dt.timedelta(days=1)
    people = Account.objects.bulk_create(
        Account(username=f"person{number}") for number in range(town["authors"] + town["readers"])
    )
    authors, readers = people[: town["authors"]], people[town["authors"] :]
    Token.objects.bulk_create(
        Token(key=f"token{number}", account=each, expires_at=later) for number, each in enumerate(readers)
    )
    Follow.objects.bulk_create(
        Follow(follower=reader, followee=authors[each])
        for reader, followed in zip(readers, town["follows"], strict=True)
        for each in followed
    )
    posts = Post.objects.bulk_create(
        Post(author=authors[each], caption=town["caption"], like_count=7) for each in town["posts"]
    )
    Media.objects.bulk_create(
        Media(owner_id=each.author_id, post=each, folder=f"{each.pk:016x}", width=1080, height=1080)
        for each in posts
    )
    for number, reader in enumerate(readers):
        Like.objects.bulk_create(Like(post=posts[each], account=reader) for each in town["likes"][number])
        Save.objects.bulk_create(Save(post=posts[each], account=reader) for each in town["saves"][number])
    Account.objects.update(post_count=F("post_count") + 1)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
