# ruff: noqa: RUF001 - look-alikes are what this is about
"""Text rules: hashtags and mentions in every script, and characters that cannot be stored."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tintype.base.text import TextInvalid, clean_line, clean_text, find_hashtags, find_mentions, hashtag_key


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#Sommer und #SOMMER", ["sommer", "sommer"]),
        ("#straße = #STRASSE", ["strasse", "strasse"]),
        ("＃東京タワー！", ["東京タワー"]),
        ("#e\u0301te\u0301 is #été", ["été", "été"]),
        ("#नमस्ते दुनिया", ["नमस्ते"]),
        ("مرحبا #صباح_الخير!", ["صباح_الخير"]),
        ("#می\u200cخواهم", ["میخواهم"]),
        ("#sun🌞#moon🌙", ["sun", "moon"]),
        ("#love❤\ufe0f#peace☮\ufe0f", ["love", "peace"]),
        ("#ＦＵＬＬ", ["full"]),
        ("we're #1, #top10", ["top10"]),
        ("page#part &#39; ##x https://example.org/#top #_ #️⃣ # #", []),
        ("(#ok) #a-b", ["ok", "a"]),
        ("#" + "x" * 101, []),
    ],
)
def test_hashtags_are_found_in_every_script(text: str, tags: list[str]) -> None:
    assert [word.key for word in find_hashtags(text)] == tags


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("with @Ana and @bo.b.", ["ana", "bo.b"]),
        ("mail me: ana@example.org", []),
        ("@ana,@bo ＠cleo", ["ana", "bo", "cleo"]),
        ("@josé @@dora @eve@else.where", []),
        ("@" + "x" * 31, []),
        ("🎉@ana🎉", ["ana"]),
    ],
)
def test_mentions_are_names_that_stand_alone(text: str, names: list[str]) -> None:
    assert [word.key for word in find_mentions(text)] == names


@given(st.text())
def test_words_lie_inside_the_text_in_order_and_begin_with_a_sign(text: str) -> None:
    for words, signs in ((find_hashtags(text), "#＃﹟"), (find_mentions(text), "@＠﹫")):
        assert all(text[word.start] in signs and word.key for word in words)
        assert all(one.end <= other.start for one, other in itertools.pairwise(words))
        assert all(word.end <= len(text) for word in words)


@given(st.text(min_size=1))
def test_a_key_of_a_key_is_the_key(text: str) -> None:
    assert hashtag_key(hashtag_key(text)) == hashtag_key(text)


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_what_cannot_be_stored_is_refused(text: str) -> None:
    with pytest.raises(TextInvalid):
        clean_text(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Ana\u202eB", "AnaB"),
        ("\u2066Ana\u2069", "Ana"),
        ("A\u200bn\u2060a\ufeff", "Ana"),
        ("An\u200da \u200c\u200e", "Ana"),
        ("A\u00adna\u3164", "Ana"),
        ("\u200b\u3164", ""),
        ("A\ufe0fn\ufe00a", "Ana"),
        (
            "1\ufe0f\u20e3 ❤\ufe0f \U0001fae8 \U0001face 葛\U000e0100",
            "1\ufe0f\u20e3 ❤\ufe0f \U0001fae8 \U0001face 葛\U000e0100",
        ),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("👩\u200d🔬 🏳\ufe0f\u200d🌈 👩🏽\u200d🔬", "👩\u200d🔬 🏳\ufe0f\u200d🌈 👩🏽\u200d🔬"),
        ("Zoë  e\u0301\tx\n", "Zoë e\u0301 x"),
    ],
)
def test_what_nobody_sees_leaves_names_and_joiners_stay_where_they_work(text: str, name: str) -> None:
    assert clean_line(text) == name
