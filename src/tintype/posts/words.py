"""Finds hashtags and mentions in what people write, in every script.

A hashtag follows UAX #31 (section 6, Hashtag identifiers): a number sign, then letters, marks and digits of any
script; joiners that Persian and Indic words need may stand inside it. Emoji end it. Number signs in addresses
(`page#part`), in entities (`&#39;`) and doubled ones make none, nor do plain numbers ("we're #1").
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tintype.posts.errors import TextInvalid

SIGNS_OF_TAGS = "#\uff03\ufe5f"
SIGNS_OF_NAMES = "@\uff20\ufe6b"
JOINERS = "\u200c\u200d"
_INVISIBLE = dict.fromkeys([*map(ord, JOINERS), *range(0xFE00, 0xFE10)])
"""Joiners and variation selectors change how letters look, not which they are."""
NO_TAG_AFTER = SIGNS_OF_TAGS + "&/"
NO_NAME_AFTER = SIGNS_OF_NAMES + "./"
LONGEST_TAG = 100
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_]|\.(?=[A-Za-z0-9_])){0,29}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class Word:
    """A hashtag or a mention: where it stands (code points, with its sign), and what it is looked up by."""

    start: int
    end: int
    key: str


def clean(text: str) -> str:
    """The text without white space around it; what PostgreSQL cannot store is refused."""
    if _UNSTORABLE.search(text):
        raise TextInvalid
    return text.strip()


def tag_key(tag: str) -> str:
    """The one form under which all spellings of a hashtag are found: compatible forms and cases folded."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", tag).casefold())
    return folded.translate(_INVISIBLE)


def find_hashtags(text: str) -> list[Word]:
    """Every hashtag, in order; the same one may come twice."""
    return list(_hashtags(text))


def find_mentions(text: str) -> list[Word]:
    """Everything that looks like @somebody, in order; whether there is such a person is another question."""
    return list(_mentions(text))


def _hashtags(text: str) -> Iterator[Word]:
    at = 0
    while (start := _next_sign(text, SIGNS_OF_TAGS, at)) is not None:
        end = _end_of_word(text, start + 1)
        at = max(end, start + 1)
        body = text[start + 1 : end]
        if _is_free(text, start, NO_TAG_AFTER) and len(body) <= LONGEST_TAG and _is_tag(body):
            yield Word(start, end, tag_key(body))


def _mentions(text: str) -> Iterator[Word]:
    at = 0
    while (start := _next_sign(text, SIGNS_OF_NAMES, at)) is not None:
        at = start + 1
        match = _NAME.match(text, start + 1)
        if match is None or not _is_free(text, start, NO_NAME_AFTER):
            continue
        after = text[match.end() : match.end() + 1]
        if not after or not (_continues(after) or after in SIGNS_OF_NAMES):
            yield Word(start, match.end(), match.group().lower())
            at = match.end()


def _next_sign(text: str, signs: str, at: int) -> int | None:
    return next((place for place in range(at, len(text)) if text[place] in signs), None)


def _end_of_word(text: str, at: int) -> int:
    """Where the run of word characters ends that begins here; a joiner belongs to it only between two of them."""
    while at < len(text):
        if _continues(text[at]):
            at += 1
        elif (
            text[at] in JOINERS
            and at + 1 < len(text)
            and _continues(text[at - 1])
            and _continues(text[at + 1])
        ):
            at += 2
        else:
            break
    return at


def _is_free(text: str, start: int, forbidden: str) -> bool:
    """Whether a sign stands at the beginning of a word, not inside one."""
    if start == 0:
        return True
    at = start - 1
    while at > 0 and unicodedata.category(text[at]) in {"Mn", "Me"}:
        at -= 1  # what a mark stands on decides: a letter, or an emoji in its coloured form
    return text[at] not in forbidden and not _continues(text[at])


def _is_tag(body: str) -> bool:
    """Whether there is more to it than digits, and it does not begin with a mark that would change its sign."""
    if not body or unicodedata.combining(body[0]) or unicodedata.category(body[0]).startswith("M"):
        return False
    return any(unicodedata.category(each)[0] == "L" for each in body)


@lru_cache(maxsize=4096)
def _continues(letter: str) -> bool:
    """Whether a word goes on with it: XID_Continue, as Python's own identifiers know it."""
    return ("a" + letter).isidentifier()
