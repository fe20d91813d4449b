"""Ids as short codes and as JSON's strings."""

import re
from typing import NewType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardwright.errors import InvalidId
from shardwright.ids import (
    MAX_ID,
    SHORT_LENGTH,
    decode_short,
    encode_short,
    id_from_text,
    id_reader,
    id_to_text,
)

IDS = st.integers(0, MAX_ID)
PostId = NewType("PostId", int)
read_post_id = id_reader(PostId)


@given(IDS)
def test_a_short_code_decodes_to_its_id(number: int) -> None:
    assert decode_short(encode_short(number)) == number


@given(IDS)
def test_codes_are_eleven_letters_and_digits(number: int) -> None:
    assert re.fullmatch(r"[0-9A-Za-z]{11}", encode_short(number))


@given(IDS, IDS)
def test_codes_sort_as_their_ids_do(one: int, two: int) -> None:
    assert (encode_short(one) < encode_short(two)) == (one < two)


@given(st.text(alphabet="0123456789AZaz", min_size=SHORT_LENGTH, max_size=SHORT_LENGTH))
def test_an_id_has_one_code_only(text: str) -> None:
    try:
        number = decode_short(text)
    except InvalidId:
        assert text > encode_short(MAX_ID)
    else:
        assert encode_short(number) == text


@pytest.mark.parametrize(
    "text", ["", "0" * 10, "0" * 12, "0000000000-", "zzzzzzzzzzz", "0000000000é", "\u0660" * 11]
)
def test_other_texts_are_not_short_codes(text: str) -> None:
    with pytest.raises(InvalidId):
        decode_short(text)


@pytest.mark.parametrize("number", [-1, MAX_ID + 1])
def test_numbers_that_are_no_ids_have_neither_code_nor_text(number: int) -> None:
    for form in (encode_short, id_to_text):
        with pytest.raises(InvalidId):
            form(number)


@given(IDS)
def test_a_text_parses_to_its_id(number: int) -> None:
    assert id_from_text(id_to_text(number)) == number


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", " 1", "1 ", "01", "1.0", "1_0", "\u0663", "9223372036854775808", "1\n"]
)
def test_an_id_has_one_text_only(text: str) -> None:
    with pytest.raises(InvalidId):
        id_from_text(text)


def test_a_reader_gives_typed_ids_from_what_clients_send() -> None:
    post_id: PostId = read_post_id("181241941811299329")
    assert post_id == read_post_id(181241941811299329)
    with pytest.raises(InvalidId):
        read_post_id(-5)
