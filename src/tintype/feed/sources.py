"""Where the posts of a feed come from: the reader's timeline and the lists of the stars it knows of, as one."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import is_
from typing import cast

from tintype.base.ids import PostId
from tintype.feed.scripts import LONGEST


class Sources:
    """Several lists of ids, oldest first, read together. Nothing below the end of a list that is full is told.

    Of the first list there may be only the newest part; then nothing below its end is told either.
    """

    def __init__(self, lists: Sequence[Sequence[int]], *, is_cut: bool = False) -> None:
        self.made_of = tuple(lists)
        self._lists, self.is_cut = [each for each in lists if each], is_cut
        self._floor = max((each[-LONGEST] for each in lists if len(each) >= LONGEST), default=1)
        if is_cut:
            self._floor = max(self._floor, lists[0][0])

    def is_as(self, other: "Sources") -> bool:
        """Whether it is made of the very same lists."""
        return len(self.made_of) == len(other.made_of) and all(map(is_, self.made_of, other.made_of))

    def newest(self, at_most: int, count: int) -> list[PostId]:
        """About `count` of the newest ids that are not above `at_most`, newest first; empty only at the end.

        There may be fewer because of repeats, but none is left out between the first and the last.
        """
        low, parts, found = self._floor, list[tuple[Sequence[int], int]](), list[int]()
        for ids in self._lists:
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
        for ids in self._lists:
            end = bisect_right(ids, highest)
            found.update(ids[bisect_left(ids, low, 0, end) : end])
        return cast("list[PostId]", sorted(found, reverse=True))

    def has_older(self, than: int) -> bool:
        """Whether there is anything below."""
        return self.is_cut or bool(self.newest(than - 1, 1))
