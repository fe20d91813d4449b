"""Search entries: people by name, posts by hashtag, the more popular ones first."""

import math
import re

from bench.peers.django_social.models import Account, SearchEntry

TAG = re.compile(r"#(\w{1,100})")
WEIGHT_PER_DOUBLING = 4


def popularity_weight(count: int) -> int:
    """A count in steps of about a fifth: the same steps as ours."""
    return 1 + int(WEIGHT_PER_DOUBLING * math.log2(count)) if count > 0 else 0


def update_person(account_id: int) -> None:
    """Give an account's entries a new weight once its followers have doubled or halved: rewrites are rare."""
    weight = popularity_weight(Account.objects.values_list("follower_count", flat=True).get(pk=account_id))
    close = (weight - WEIGHT_PER_DOUBLING + 1, weight + WEIGHT_PER_DOUBLING - 1)
    entries = SearchEntry.objects.filter(kind="person", subject_id=account_id)
    entries.exclude(weight__range=close).update(weight=weight)


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
