"""Merges a reader's timeline with the lists of the celebrities it is marked with."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import is_
from typing import cast

from tintype.base.ids import PostId
from tintype.feed.followed_tags import TAG_POSTS
from tintype.feed.scripts import MAX_LENGTH


class MergedTimeline:
    """Several lists of ids, each oldest first, read as one. Ids below the end of a full list are left out.

    Of the first list there may be only the head; then ids below its end are left out too. Of the lists of followed
    hashtags, only the newest ids take part.
    """

    def __init__(
        self,
        lists: Sequence[Sequence[int]],
        *,
        is_head: bool = False,
        tag_lists: Sequence[Sequence[int]] = (),
    ) -> None:
        self.lists, self.has_tags = (*lists, *tag_lists), bool(tag_lists)
        self._nonempty, self.is_head = [each for each in lists if each], is_head
        self._nonempty += [each[-TAG_POSTS:] for each in tag_lists if each]
        self._floor = max((each[-MAX_LENGTH] for each in lists if len(each) >= MAX_LENGTH), default=1)
        if is_head:
            self._floor = max(self._floor, lists[0][0])

    def has_same_lists(self, other: "MergedTimeline") -> bool:
        """Whether both are made of the very same list objects."""
        return len(self.lists) == len(other.lists) and all(map(is_, self.lists, other.lists))

    def newest(self, at_most: int, count: int) -> list[PostId]:
        """About `count` of the newest ids that are not above `at_most`, newest first; empty only at the end.

        There may be fewer because of duplicates, but none is left out between the first and the last.
        """
        low, parts, found = self._floor, list[tuple[Sequence[int], int]](), list[int]()
        for ids in self._nonempty:
            end = len(ids) if ids[-1] <= at_most else bisect_right(ids, at_most)
            if end > count and ids[end - count] > low:
                low = ids[end - count]
            parts.append((ids, end))
        for ids, end in parts:
            found += ids[bisect_left(ids, low, 0, end) : end]
        found.sort(reverse=True)  # runs that are sorted already, which makes this cheap
        return cast("list[PostId]", list(dict.fromkeys(found))[:count])

    def between(self, lowest: int, highest: int) -> list[PostId]:
        """Every id within these bounds, newest first."""
        low, found = max(lowest, self._floor), set[int]()
        for ids in self._nonempty:
            end = bisect_right(ids, highest)
            found.update(ids[bisect_left(ids, low, 0, end) : end])
        return cast("list[PostId]", sorted(found, reverse=True))

    def has_older(self, than: int) -> bool:
        """Whether there are ids below this one."""
        return self.is_head or bool(self.newest(than - 1, 1))
