"""Finds the words somebody does not want to read, also when they are dressed up a little.

Text and words are brought to one plain form: compatibility forms and case folded, accents dropped, the usual digits
and signs read as the letters they stand for (i, l and 1 are one), long repeats shortened. Words match as whole words,
so that a harmless longer word is not caught; what has no letters (an emoji) matches anywhere.
"""

import re
import unicodedata
from collections.abc import Iterable

_STANDS_FOR = str.maketrans("01l3457@$€", "oiieastase")
_WORD = re.compile(r"\w+")
_LONG_REPEAT = re.compile(r"(.)\1{2,}")


def find_unwanted(text: str, unwanted: Iterable[str]) -> str | None:
    """The first unwanted word or phrase that a text holds."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    plain = " ".join(_plain_words(text))
    for word in unwanted:
        wanted = " ".join(_plain_words(word))
        is_held = (
            f" {wanted} " in f" {plain} "
            if wanted
            else unicodedata.normalize("NFKC", word).casefold() in folded
        )
        if is_held:
            return word
    return None


def _plain_words(text: str) -> list[str]:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return [_LONG_REPEAT.sub(r"\1", word) for word in _WORD.findall(bare.translate(_STANDS_FOR))]
