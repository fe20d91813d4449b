"""Normalization and tokenization: what people type, in the one form that the index holds."""

import re
import unicodedata

from tintype.base.text import hashtag_key

LONGEST_WORD = 30
MAX_WORDS = 8
MAX_CAPTION_WORDS = 40

_WORD = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """The text without case, accents, ligatures and widths, and without characters that cannot be stored."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if unicodedata.category(each) not in {"Mn", "Cs", "Cc"})


def typed_hashtag_key(text: str) -> str:
    """The key of a hashtag as somebody typed it, with or without its sign."""
    return hashtag_key(text).strip().lstrip("#")


def tokens(folded: str) -> list[str]:
    """The words of a folded text, in their order, repeated ones too."""
    return _WORD.findall(folded)


def words_of(text: str) -> list[str]:
    """The distinct words of a text, in their order."""
    found = dict.fromkeys(each[:LONGEST_WORD] for each in _WORD.findall(fold(text)))
    return list(found)[:MAX_WORDS]


def caption_words(text: str) -> list[str]:
    """The distinct words of a caption that are indexed, in their order: of three letters, or two beyond ASCII."""
    found = dict.fromkeys(each[:LONGEST_WORD] for each in _WORD.findall(fold(text)))
    return [each for each in found if len(each) >= (3 if each.isascii() else 2)][:MAX_CAPTION_WORDS]


def squash(text: str) -> str:
    """A name as one word, so that `ana.lo_pez` is found by `analop`."""
    return "".join(_WORD.findall(fold(text)))[:LONGEST_WORD]


def typed_words(text: str) -> list[str]:
    """The words of a search: separated by spaces, each without its punctuation, the longest first."""
    found = dict.fromkeys(word for part in text.split() if (word := squash(part)))
    return sorted(list(found)[:MAX_WORDS], key=len, reverse=True)
