"""The five operations: like, comment, follow, a profile, a new post."""

import json
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from bench.peers.django_social.events import announce
from bench.peers.django_social.models import Account, Block, Comment, Follow, Like, Media, Post, Token

PAGE = 12


def viewer_of(request: HttpRequest) -> Account | None:
    """The account of the request's token."""
    key = request.headers.get("Authorization", "").removeprefix("Bearer ")
    found = Token.objects.select_related("account").filter(key=key, expires_at__gt=timezone.now()).first()
    return found.account if found else None


def _may_see(viewer: Account, author: Account) -> bool:
    if viewer.pk == author.pk:
        return True
    if Block.objects.filter(Q(blocker=viewer, blocked=author) | Q(blocker=author, blocked=viewer)).exists():
        return False
    return not author.is_private or Follow.objects.filter(follower=viewer, followee=author).exists()


def refuse(status: int, code: str) -> JsonResponse:
    """An error response."""
    return JsonResponse({"status": status, "code": code}, status=status)


def _visible_post(viewer: Account, post_id: int) -> Post | None:
    post = Post.objects.select_related("author").filter(pk=post_id).first()
    return post if post and _may_see(viewer, post.author) else None


def like(request: HttpRequest, post_id: int) -> HttpResponse:
    """Like a post once."""
    viewer = viewer_of(request)
    if viewer is None:
        return refuse(401, "not_signed_in")
    post: Any = _visible_post(viewer, post_id)
    if post is None:
        return refuse(404, "post_not_found")
    with transaction.atomic():
        _, is_new = Like.objects.get_or_create(post_id=post_id, account=viewer)
        if is_new:
            Post.objects.filter(pk=post_id).update(like_count=F("like_count") + 1)
            announce("post_liked", post_id=post_id, author_id=post.author_id, account_id=viewer.pk)
    return HttpResponse(status=204)


def comment(request: HttpRequest, post_id: int) -> HttpResponse:
    """Comment on a post."""
    viewer = viewer_of(request)
    if viewer is None:
        return refuse(401, "not_signed_in")
    text = str(json.loads(request.body)["text"]).strip()
    if not 1 <= len(text) <= 2200:
        return refuse(400, "comment_invalid")
    post: Any = _visible_post(viewer, post_id)
    if post is None:
        return refuse(404, "post_not_found")
    with transaction.atomic():
        made = Comment.objects.create(post_id=post_id, account=viewer, text=text)
        Post.objects.filter(pk=post_id).update(comment_count=F("comment_count") + 1)
        announce(
            "comment_added",
            comment_id=made.pk,
            post_id=post_id,
            author_id=post.author_id,
            account_id=viewer.pk,
            text=text,
        )
    body = {"comment_id": str(made.pk), "text": text, "created_at": made.created_at, "author": card(viewer)}
    return JsonResponse(body, status=201)


def follow(request: HttpRequest, account_id: int) -> HttpResponse:
    """Follow an account once."""
    viewer = viewer_of(request)
    if viewer is None:
        return refuse(401, "not_signed_in")
    other = Account.objects.filter(pk=account_id).first()
    if other is None or not (_may_see(viewer, other) or other.is_private):
        return refuse(404, "account_not_found")
    with transaction.atomic():
        _, is_new = Follow.objects.get_or_create(follower=viewer, followee=other)
        if is_new:
            # In one order, so that two people who follow each other at once do not wait for each other.
            for pk, count in sorted([(viewer.pk, "following_count"), (other.pk, "follower_count")]):
                Account.objects.filter(pk=pk).update(**{count: F(count) + 1})
            announce("account_followed", follower_id=viewer.pk, followee_id=other.pk)
    return HttpResponse(status=204)


def profile(request: HttpRequest, username: str) -> HttpResponse:
    """An account, the viewer's relation to it, and its first twelve posts."""
    viewer = viewer_of(request)
    if viewer is None:
        return refuse(401, "not_signed_in")
    followed = Follow.objects.filter(follower=viewer, followee=OuterRef("pk"))
    follows_back = Follow.objects.filter(follower=OuterRef("pk"), followee=viewer)
    blocks = Block.objects.filter(
        Q(blocker=viewer, blocked=OuterRef("pk")) | Q(blocker=OuterRef("pk"), blocked=viewer)
    )
    found: Any = (
        Account.objects.filter(username=username)
        .annotate(
            is_followed=Exists(followed), follows_viewer=Exists(follows_back), is_blocked=Exists(blocks)
        )
        .first()
    )
    if found is None or found.is_blocked:
        return refuse(404, "account_not_found")
    body = card(found) | {
        "bio": found.bio,
        "post_count": found.post_count,
        "follower_count": found.follower_count,
        "following_count": found.following_count,
        "viewer_follows": found.is_followed,
        "follows_viewer": found.follows_viewer,
        "posts": [],
    }
    if found.pk == viewer.pk or not found.is_private or found.is_followed:
        liked = Like.objects.filter(post=OuterRef("pk"), account=viewer)
        posts = found.posts.order_by("-id").annotate(is_liked=Exists(liked)).prefetch_related("media")[:PAGE]
        body["posts"] = [show(post, found) for post in posts]
    return JsonResponse(body)


def publish(request: HttpRequest) -> HttpResponse:
    """Publish a post of uploaded photos."""
    viewer = viewer_of(request)
    if viewer is None:
        return refuse(401, "not_signed_in")
    asked = json.loads(request.body)
    ids = [int(each) for each in asked["media_ids"]]
    with transaction.atomic():
        post: Any = Post.objects.create(author=viewer, caption=str(asked.get("caption", ""))[:2200])
        taken = Media.objects.filter(pk__in=ids, owner=viewer, post__isnull=True).update(post=post)
        if taken != len(ids):
            transaction.set_rollback(True)
            return refuse(400, "media_invalid")
        Account.objects.filter(pk=viewer.pk).update(post_count=F("post_count") + 1)
        announce("post_published", post_id=post.pk, author_id=viewer.pk, caption=post.caption)
    post.is_liked = False
    return JsonResponse(show(post, viewer), status=201)


def card(account: Account) -> dict[str, Any]:
    """An account, as part of a response."""
    return {
        "account_id": str(account.pk),
        "username": account.username,
        "full_name": account.full_name,
        "is_verified": account.is_verified,
        "is_private": account.is_private,
    }


def show(post: Any, author: Account) -> dict[str, Any]:
    """A post, as part of a response."""
    return {
        "post_id": str(post.pk),
        "author": card(author),
        "caption": post.caption,
        "like_count": post.like_count,
        "comment_count": post.comment_count,
        "created_at": post.created_at,
        "viewer_has_liked": post.is_liked,
        "media": [
            {
                "url": f"/media/{item.folder}/1080.jpg",
                "urls": {str(size): f"/media/{item.folder}/{size}.jpg" for size in (1080, 640, 320, 150)},
                "width": item.width,
                "height": item.height,
                "alt_text": item.alt_text,
            }
            for item in post.media.all()
        ],
    }
