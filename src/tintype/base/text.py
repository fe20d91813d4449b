"""Rules for text that people write, the same in every room: what can be stored, hashtags, mentions.

A hashtag follows UAX #31 (section 6, Hashtag identifiers): a number sign, then letters, marks and digits of any
script; the joiners that Persian and Indic words need may stand inside it. Emoji end it. Number signs in URLs
(`page#part`), in HTML entities (`&#39;`), doubled number signs and plain numbers ("we're #1") are not hashtags.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tintype.base.errors import Invalid
from tintype.base.invisible_characters import remove_invisible

MAX_MENTIONS = 30
MAX_HASHTAG_LENGTH = 100
HASHTAG_SIGNS = "#\uff03\ufe5f"
MENTION_SIGNS = "@\uff20\ufe6b"
JOINERS = "\u200c\u200d"
_INVISIBLE = dict.fromkeys([*map(ord, JOINERS), *range(0xFE00, 0xFE10)])
"""Joiners and variation selectors change how letters look, not which letters they are."""
NO_HASHTAG_AFTER = HASHTAG_SIGNS + "&/"
NO_MENTION_AFTER = MENTION_SIGNS + "./"
_USERNAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_]|\.(?=[A-Za-z0-9_])){0,29}")
_HASHTAG_SIGN, _MENTION_SIGN = re.compile(f"[{HASHTAG_SIGNS}]"), re.compile(f"[{MENTION_SIGNS}]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class TextInvalid(Invalid):
    """That text contains a character we cannot store, such as NUL. Remove it and try again."""

    code = "text_invalid"


class TooManyMentions(Invalid):
    """Mention at most 30 people."""

    code = "too_many_mentions"


@dataclass(frozen=True)
class TextMatch:
    """A hashtag or mention found in a text: its position in code points, sign included, and its lookup key."""

    start: int
    end: int
    key: str


def clean_text(text: str) -> str:
    """Strip white space around the text, and refuse characters that PostgreSQL cannot store."""
    if _UNSTORABLE.search(text):
        raise TextInvalid
    return text.strip()


def clean_line(text: str) -> str:
    """Clean a text of one line, such as a name: white space inside collapses, what nobody sees is removed."""
    if _UNSTORABLE.search(text):
        raise TextInvalid
    return " ".join(remove_invisible(text).split())


def hashtag_key(hashtag: str) -> str:
    """The key all spellings of a hashtag share: compatibility forms and case are folded."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", hashtag).casefold())
    return folded.translate(_INVISIBLE)


def find_hashtags(text: str) -> list[TextMatch]:
    """Every hashtag in order of appearance, repeats included."""
    return list(_hashtags(text))


def find_mentions(text: str) -> list[TextMatch]:
    """Everything that looks like @username, in order of appearance; the username need not exist."""
    return list(_mentions(text))


def check_mentions(text: str) -> None:
    """Refuse a text that mentions more different usernames than one text may."""
    if len({match.key for match in find_mentions(text)}) > MAX_MENTIONS:
        raise TooManyMentions


def mentioned_usernames(text: str) -> list[str]:
    """The usernames a text mentions, each once, cut at the limit that `check_mentions` enforces for new texts."""
    return list(dict.fromkeys(match.key for match in find_mentions(text)))[:MAX_MENTIONS]


def _hashtags(text: str) -> Iterator[TextMatch]:
    at = 0
    while (start := _next_sign(text, _HASHTAG_SIGN, at)) is not None:
        end = _end_of_word(text, start + 1)
        at = max(end, start + 1)
        body = text[start + 1 : end]
        if (
            _starts_a_word(text, start, NO_HASHTAG_AFTER)
            and len(body) <= MAX_HASHTAG_LENGTH
            and _is_hashtag(body)
        ):
            yield TextMatch(start, end, hashtag_key(body))


def _mentions(text: str) -> Iterator[TextMatch]:
    at = 0
    while (start := _next_sign(text, _MENTION_SIGN, at)) is not None:
        at = start + 1
        match = _USERNAME.match(text, start + 1)
        if match is None or not _starts_a_word(text, start, NO_MENTION_AFTER):
            continue
        after = text[match.end() : match.end() + 1]
        if not after or not (_continues_word(after) or after in MENTION_SIGNS):
            yield TextMatch(start, match.end(), match.group().lower())
            at = match.end()


def _next_sign(text: str, signs: re.Pattern[str], at: int) -> int | None:
    found = signs.search(text, at)
    return None if found is None else found.start()


def _end_of_word(text: str, at: int) -> int:
    """Where the run of word characters that begins here ends; a joiner belongs to it only between two of them."""
    while at < len(text):
        if _continues_word(text[at]):
            at += 1
        elif (
            text[at] in JOINERS
            and at + 1 < len(text)
            and _continues_word(text[at - 1])
            and _continues_word(text[at + 1])
        ):
            at += 2
        else:
            break
    return at


def _starts_a_word(text: str, start: int, forbidden_before: str) -> bool:
    """Whether a sign stands at the beginning of a word, not inside one."""
    if start == 0:
        return True
    at = start - 1
    while at > 0 and unicodedata.category(text[at]) in {"Mn", "Me"}:
        at -= 1  # a combining mark counts as its base character: a letter, or an emoji in its coloured form
    return text[at] not in forbidden_before and not _continues_word(text[at])


def _is_hashtag(body: str) -> bool:
    """Whether it has a letter, and does not begin with a combining mark, which would attach to the number sign."""
    if not body or unicodedata.combining(body[0]) or unicodedata.category(body[0]).startswith("M"):
        return False
    return any(unicodedata.category(each)[0] == "L" for each in body)


@lru_cache(maxsize=4096)
def _continues_word(letter: str) -> bool:
    """Whether a character may continue a word: XID_Continue, as Python's own identifiers define it."""
    return ("a" + letter).isidentifier()
