"""Matches comments against the words a post's author filters, common disguises included.

Text and words are normalized: compatibility forms and case folded, accents dropped, digits and signs that stand for
letters replaced (i, l and 1 become one letter), long repeats shortened. Words match as whole words, so that a harmless
longer word is not caught; a filter without letters (an emoji) matches anywhere.
"""

import re
import unicodedata
from collections.abc import Iterable

_STANDS_FOR = str.maketrans("01l3457@$€", "oiieastase")
_WORD = re.compile(r"\w+")
_LONG_REPEAT = re.compile(r"(.)\1{2,}")


def find_filtered_word(text: str, filters: Iterable[str]) -> str | None:
    """The first filter that a text matches."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    normalized = " ".join(_normalized_words(text))
    for word in filters:
        wanted = " ".join(_normalized_words(word))
        is_match = (
            f" {wanted} " in f" {normalized} "
            if wanted
            else unicodedata.normalize("NFKC", word).casefold() in folded
        )
        if is_match:
            return word
    return None


def _normalized_words(text: str) -> list[str]:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return [_LONG_REPEAT.sub(r"\1", word) for word in _WORD.findall(bare.translate(_STANDS_FOR))]
