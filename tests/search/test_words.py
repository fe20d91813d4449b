from hypothesis import given
from hypothesis import strategies as st

from tintype.search.words import fold, heads, squash, tag_key, typed_words, typo_heads, typos_to, words_of

LETTERS = st.characters(codec="utf-8", categories=["Ll", "Nd"])
WORDS = st.text(LETTERS, min_size=4, max_size=12)


@given(WORDS, st.integers(0, 4), LETTERS, st.sampled_from(["insert", "drop", "change", "swap"]))
def test_one_error_anywhere_still_leads_to_a_key_the_word_is_filed_under(
    word: str, at: int, letter: str, error: str
) -> None:
    at = min(at, len(word) - 2)
    typed = {
        "insert": word[:at] + letter + word[at:],
        "drop": word[:at] + word[at + 1 :],
        "change": word[:at] + letter + word[at + 1 :],
        "swap": word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    }[error]

    assert typo_heads(typed) & heads(word)
    assert typos_to(typed, word) <= 1


@given(st.text(max_size=60))
def test_whatever_is_typed_becomes_words_that_can_be_stored(text: str) -> None:
    for word in [*typed_words(text), *words_of(text)]:
        assert 0 < len(word) <= 30
        assert not set(word) & set("%_\\ \0")
        word.encode()


def test_case_accents_and_widths_do_not_matter() -> None:
    assert fold("Ànà \uff2cÓPEZ Straße ﬁn") == "ana lopez strasse fin"
    assert squash("ana.lo_pez") == "analopez"
    assert words_of("ana.lo_pez") == ["ana", "lo", "pez"]
    assert tag_key("a\u200db\ufe0f") == "ab"
    assert tag_key("#Été") == tag_key("\uff03été") == "été"


def test_a_beginning_with_an_error_is_near_the_whole_word() -> None:
    assert typos_to("jhon", "johnathan") == 1
    assert typos_to("xavier", "anastasia") > 2
