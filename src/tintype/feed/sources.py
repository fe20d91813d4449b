"""Where the posts of a feed come from: the reader's timeline and the lists of the stars it knows of, as one."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import cast

from tintype.base.ids import PostId
from tintype.feed.scripts import LONGEST


class Sources:
    """Several lists of ids, oldest first, read together. Nothing below the end of a list that is full is told."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        self._lists = lists
        self._floor = max((each[-LONGEST] for each in lists if len(each) >= LONGEST), default=1)

    def newest(self, at_most: int, count: int) -> list[PostId]:
        """About `count` of the newest ids that are not above `at_most`, newest first; empty only at the end.

        There may be fewer because of repeats, but none is left out between the first and the last.
        """
        low, found = self._floor, set[int]()
        for ids in self._lists:
            end = bisect_right(ids, at_most)
            start = bisect_left(ids, low, 0, end)
            if end - start > count:
                start = end - count
                low = ids[start]
            found.update(ids[start:end])
        if len(self._lists) > 1:
            found = {each for each in found if each >= low}
        return cast("list[PostId]", sorted(found, reverse=True)[:count])

    def between(self, lowest: int, highest: int) -> list[PostId]:
        """Every id within these bounds, newest first."""
        low, found = max(lowest, self._floor), set[int]()
        for ids in self._lists:
            end = bisect_right(ids, highest)
            found.update(ids[bisect_left(ids, low, 0, end) : end])
        return cast("list[PostId]", sorted(found, reverse=True))

    def has_older(self, than: int) -> bool:
        """Whether there is anything below."""
        return bool(self.newest(than - 1, 1))
