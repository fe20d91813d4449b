"""Search entries: people by name, posts by hashtag, the more popular ones first."""

import math
import re

from bench.peers.django_social.models import Account, SearchEntry

TAG = re.compile(r"#(\w{1,100})")


def popularity_weight(count: int) -> int:
    """A count in steps of about a fifth, so that entries are rewritten seldom: the same steps as ours."""
    return 1 + int(4 * math.log2(count)) if count > 0 else 0


def index_people() -> None:
    """Create the entries of all accounts."""
    SearchEntry.objects.bulk_create(
        SearchEntry(kind="person", term=name, subject_id=pk, weight=popularity_weight(followers))
        for pk, name, followers in Account.objects.values_list("pk", "username", "follower_count")
    )


def index_tags(post_id: int, caption: str) -> None:
    """Create an entry for each hashtag of a post; safe to repeat."""
    tags = {tag.lower() for tag in TAG.findall(caption)}
    if tags:
        SearchEntry.objects.bulk_create(
            [SearchEntry(kind="tag", term=tag, subject_id=post_id) for tag in tags], ignore_conflicts=True
        )
