from hypothesis import given
from hypothesis import strategies as st

from tintype.search.normalize import fold, squash, typed_hashtag_key, typed_words, words_of
from tintype.search.prefixes import index_prefixes, typo_prefixes, typos_to

LETTERS = st.characters(codec="utf-8", categories=["Ll", "Nd"])
WORDS = st.text(LETTERS, min_size=4, max_size=12)


@given(WORDS, st.integers(0, 4), LETTERS, st.sampled_from(["insert", "drop", "change", "swap"]))
def test_one_typo_anywhere_still_leads_to_a_prefix_the_word_is_indexed_under(
    word: str, at: int, letter: str, error: str
) -> None:
    at = min(at, len(word) - 2)
    typed = {
        "insert": word[:at] + letter + word[at:],
        "drop": word[:at] + word[at + 1 :],
        "change": word[:at] + letter + word[at + 1 :],
        "swap": word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    }[error]

    assert typo_prefixes(typed) & index_prefixes(word)
    assert typos_to(typed, word) <= 1


@given(st.text(max_size=60))
def test_any_text_becomes_words_that_can_be_stored(text: str) -> None:
    for word in [*typed_words(text), *words_of(text)]:
        assert 0 < len(word) <= 30
        assert not set(word) & set("%_\\ \0")
        word.encode()


def test_case_accents_and_widths_do_not_matter() -> None:
    assert fold("Ànà \uff2cÓPEZ Straße ﬁn") == "ana lopez strasse fin"
    assert squash("ana.lo_pez") == "analopez"
    assert words_of("ana.lo_pez") == ["ana", "lo", "pez"]
    assert typed_hashtag_key("a\u200db\ufe0f") == "ab"
    assert typed_hashtag_key("#Été") == typed_hashtag_key("\uff03été") == "été"


def test_a_misspelled_beginning_is_close_to_the_whole_word() -> None:
    assert typos_to("jhon", "johnathan") == 1
    assert typos_to("xavier", "anastasia") > 2
