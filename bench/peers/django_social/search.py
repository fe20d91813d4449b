"""Search entries: people by name, posts by hashtag and by the words of their captions."""

import math
import re

from bench.peers.django_social.models import Account, SearchEntry

TAG = re.compile(r"#(\w{1,100})")
WORD = re.compile(r"\w{3,50}")
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


def index_caption(post_id: int, caption: str) -> None:
    """Create an entry for each hashtag and each word of a post; safe to repeat."""
    terms = {("tag", tag.lower()) for tag in TAG.findall(caption)}
    terms |= {("word", word.lower()) for word in WORD.findall(caption)}
    if terms:
        SearchEntry.objects.bulk_create(
            [SearchEntry(kind=kind, term=term, subject_id=post_id) for kind, term in terms],
            ignore_conflicts=True,
        )
