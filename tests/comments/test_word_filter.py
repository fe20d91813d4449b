"""Filtered words are found in disguise, and not inside harmless longer words."""

import pytest

from tintype.comments.word_filter import find_filtered_word


@pytest.mark.parametrize(
    ("text", "word", "is_found"),
    [
        ("You IDIOT!", "idiot", True),
        ("you 1d10t", "idiot", True),
        ("you idiooooot", "idiot", True),
        ("ïdíöt", "idiot", True),
        ("\uff49\uff44\uff49\uff4f\uff54", "idiot", True),
        ("$tup1d", "stupid", True),
        ("idiotic", "idiot", False),
        ("go, away", "go away", True),
        ("going away", "go away", False),
        ("so 🤮.", "🤮", True),
        ("دیوانه شدی", "دیوانه", True),
        ("fine", "", False),
    ],
)
def test_filtered_words_are_found(text: str, word: str, *, is_found: bool) -> None:
    assert (find_filtered_word(text, [word] if word else []) is not None) is is_found
