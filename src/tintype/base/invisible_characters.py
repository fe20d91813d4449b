"""Characters that nobody sees and that change what everybody sees: bidirectional controls, zero-width characters.

A name that holds them can look like another's, or reorder the text around it, so they leave names. Joiners stay where
they do their work: in emoji sequences and inside words of scripts that need them, such as Persian and Hindi. Longer
texts (captions, comments, bios) keep what was written; whoever shows them isolates them (`dir="auto"`).
"""

import unicodedata

JOINERS = "\u200c\u200d"
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are shown as nothing (Hangul fillers, Khmer inherent vowels) or as a blank (Braille)."""
_FIRST_JOINING_SCRIPT, _LAST_JOINING_SCRIPT = "\u0600", "\u1cff"
"""From Arabic to the Vedic extensions: between the two lie the scripts whose letters joiners change."""
_EMOJI_PARTS = frozenset("\ufe0f\u20e3")


def remove_invisible(text: str) -> str:
    """The text of a name without characters that are not seen; white space is not touched."""
    if text.isascii():
        return "".join(each for each in text if each.isprintable() or each.isspace())
    return "".join(each for index, each in enumerate(text) if _stays(text, index))


def _stays(text: str, index: int) -> bool:
    letter = text[index]
    if letter in JOINERS:
        return _joins(text, index)
    if "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef":
        return index > 0 and _has_variants(text[index - 1])
    return _is_seen(letter)


def _is_seen(letter: str) -> bool:
    if letter in _BLANK_LETTERS:
        return False
    # Not those that are unassigned: they may be emoji that are newer than this table.
    return letter.isspace() or unicodedata.category(letter) not in {"Cc", "Cf"}


def _has_variants(letter: str) -> bool:
    """Whether a variation selector can change a character: symbols, digits of keycaps, ideographs; no Latin letter."""
    return letter not in JOINERS and not letter.isspace() and not (letter.isalpha() and letter < "\u0530")


def _joins(text: str, index: int) -> bool:
    """Whether a joiner stands between two characters that it changes."""
    if not 0 < index < len(text) - 1:
        return False
    before, after = text[index - 1], text[index + 1]
    if _is_joining_letter(before) and _is_joining_letter(after):
        return True
    return text[index] == "\u200d" and _is_emoji(before) and _is_emoji(after)


def _is_joining_letter(letter: str) -> bool:
    return _FIRST_JOINING_SCRIPT <= letter <= _LAST_JOINING_SCRIPT and _is_seen(letter)


def _is_emoji(letter: str) -> bool:
    return letter in _EMOJI_PARTS or unicodedata.category(letter) in {"So", "Sk", "Cn"}
