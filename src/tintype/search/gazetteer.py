"""Gazetteer: towns and cities of the world by name, from a file in this package; nothing is asked of anybody.

The names are those of GeoNames (https://www.geonames.org, CC BY 4.0), of places with at least 5,000 people, in many
languages. The file has one place per line, the largest first, and a sorted list of names with the numbers of their
lines. It is read when somebody first searches a place, and kept as bytes: a search is two bisections.
"""

import bisect
import lzma
from array import array
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import overload

import msgspec

from tintype.search.normalize import fold, tokens

FILE = Path(__file__).with_name("gazetteer.xz")
MAX_SCANNED = 5_000
"""Names that begin with what was typed; the rest of those of a letter or two are not looked at."""
MIN_LENGTH = 2
MIN_WHOLE = 4
"""A whole name counts more than the beginning of a larger one from this length on; of short ones there are too many."""


class GazetteerPlace(msgspec.Struct, frozen=True):
    """A town or city."""

    name: str
    country_code: str
    """ISO 3166-1 alpha-2."""
    region: str
    """A state of the USA, where many names repeat; empty elsewhere."""
    latitude: float
    longitude: float


def key_of(text: str) -> str:
    """A name as it is filed, and as it is searched for: its words, folded."""
    return " ".join(tokens(fold(text)))


class Gazetteer:
    """The places of the file."""

    def __init__(self, content: bytes) -> None:
        places, _, keys = content.partition(b"\n\n")
        self._places, self._keys = _Lines(places), _Lines(keys)

    def find(self, text: str, limit: int) -> list[GazetteerPlace]:
        """Places whose name, in some language, begins with the text: whole matches first, then the largest."""
        key = key_of(text).encode()
        if len(key) < MIN_LENGTH:
            return []
        begin = bisect.bisect_left(self._keys, key)
        end = bisect.bisect_left(self._keys, key + b"\xff", lo=begin)
        best: dict[int, bool] = {}
        for at in range(begin, min(end, begin + MAX_SCANNED)):
            name, _, number = self._keys[at].partition(b"\t")
            best[int(number)] = best.get(int(number), False) or (name == key and len(text) >= MIN_WHOLE)
        ranked = sorted(best, key=lambda number: (not best[number], number))
        return [self._read(number) for number in ranked[:limit]]

    def _read(self, number: int) -> GazetteerPlace:
        name, country_code, region, latitude, longitude = self._places[number].decode().split("\t")
        return GazetteerPlace(name, country_code, region, float(latitude), float(longitude))


class _Lines(Sequence[bytes]):
    """The lines of a text by number, without an object for each."""

    def __init__(self, text: bytes) -> None:
        self._text, self._begins = text, array("I", [0])
        at = text.find(b"\n")
        while at >= 0:
            self._begins.append(at + 1)
            at = text.find(b"\n", at + 1)
        self._begins.append(len(text) + 1)

    def __len__(self) -> int:
        return len(self._begins) - 1

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        return self._text[self._begins[index] : self._begins[index + 1] - 1]


@cache
def load_gazetteer() -> Gazetteer:
    """The gazetteer of this package; reading it takes a quarter of a second, once."""
    return Gazetteer(lzma.decompress(FILE.read_bytes()))
