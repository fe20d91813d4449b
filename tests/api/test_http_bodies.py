"""Bodies and query parameters: nested too deeply, of another type than the OpenAPI document says, or no numbers."""

import base64
import json
import re
from typing import Any
from urllib.parse import quote

import pytest
from httpx import AsyncClient
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from litestar.routes import HTTPRoute

from tests.support import PASSWORD, Person
from tintype.api import create_app
from tintype.base.json_depth import MAX_DEPTH, JsonTooDeep, check_json_depth
from tintype.base.settings import Settings

JSON = {"Content-Type": "application/json"}
REFUSED_EARLIER = {"not_signed_in", "proof_needed", "scope_missing", "json_too_deep", "not_found"}


def json_routes() -> list[tuple[str, str]]:
    """Every route that takes a JSON body, with an id for each part of its path."""
    found: list[tuple[str, str]] = []
    for route in create_app(Settings()).routes:
        for handler in route.route_handlers if isinstance(route, HTTPRoute) else ():
            if "data" in handler.parsed_fn_signature.parameters:
                path = re.sub(r"\{[^}]*\}", "1", route.path)
                found += [(method, path) for method in handler.http_methods if method != "OPTIONS"]
    return sorted(found)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 2_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
async def test_nested_json_is_refused_at_every_route_before_a_parser_recurses(
    client: AsyncClient, ana: Person, depth: int, opening: str, closing: str
) -> None:
    body = (opening * depth + "1" + closing * depth).encode()
    if len(body) > 1024 * 1024:
        body = body[: 1024 * 1024]
    routes = json_routes()

    anonymous = [await client.request(*each, content=body, headers=JSON) for each in routes]
    token = JSON | {"Authorization": f"Bearer {ana.token}"}
    signed_in = [await client.request(*each, content=body, headers=token) for each in routes]

    assert len(routes) > 40
    for answer in (*anonymous, *signed_in):
        told = (answer.request.method, answer.request.url.path, answer.status_code, answer.json()["code"])
        assert answer.status_code in {400, 401, 403, 404}, told
        assert answer.json()["code"] in REFUSED_EARLIER, told
    assert sum(answer.json()["code"] == "json_too_deep" for answer in anonymous) >= 8
    assert sum(answer.json()["code"] == "json_too_deep" for answer in signed_in) >= 40


async def test_nested_json_inside_fields_is_refused(client: AsyncClient, ana: Person) -> None:
    deep = "[" * 2_000 + "]" * 2_000
    in_form = await ana.call(
        "POST", "/media/upload", files={"file": ("a.jpg", b"x", "image/jpeg")}, data={"edit": deep}
    )
    metadata = f"edit {base64.b64encode(deep.encode()).decode()}"
    in_metadata = await ana.call(
        "POST",
        "/media/tus",
        headers={"Tus-Resumable": "1.0.0", "Upload-Length": "9", "Upload-Metadata": metadata},
    )
    passkey = {
        "id": "AA",
        "rawId": "AA",
        "type": "public-key",
        "response": {
            "clientDataJSON": base64.urlsafe_b64encode(deep.encode()).decode().rstrip("="),
            "attestationObject": base64.urlsafe_b64encode(b"\x81" * 3_000 + b"\0").decode().rstrip("="),
            "authenticatorData": "AA",
            "signature": "AA",
        },
    }
    asserted = await client.post("/api/v1/sessions/passkey", json={"passkey": passkey})
    cursor = base64.urlsafe_b64encode(b"2:" + b"[" * 140).decode().rstrip("=")
    paged = [
        await ana.call("GET", path, params={"cursor": cursor})
        for path in (
            "/feed",
            "/explore",
            "/notifications",
            "/search/recent",
            f"/accounts/{ana.account_id}/posts",
        )
    ]

    for answer in (in_form, in_metadata, asserted):
        assert 400 <= answer.status_code < 500, answer.text
    assert {answer.json()["code"] for answer in (in_form, in_metadata, asserted)} == {"json_too_deep"}
    assert all(answer.status_code < 500 for answer in paged)


@pytest.mark.parametrize(
    ("text", "is_fine"),
    [
        (b"[" * 32 + b"]" * 32, True),
        (b"[" * 33 + b"]" * 33, False),
        (b"[" + b"[{}]," * 10_000 + b"1]", True),
        (b'{"a": "' + b"[" * 500 + b'"}', True),
        (b'{"a": "\\\\\\"' + b"{" * 500 + b'"}', True),
        (b'{"a": "\\\\"' + b"," + b"[" * 500, False),
        (b'{"' + b"\\" * 400 + b'":' + b"[" * 500, False),
        (b'{"' + b"\\" * 401 + b'":' + b"[" * 500 + b'"}', True),
    ],
)
def test_the_depth_of_json_is_that_of_its_brackets_outside_of_strings(text: bytes, *, is_fine: bool) -> None:
    try:
        check_json_depth(text)
    except JsonTooDeep:
        assert not is_fine
    else:
        assert is_fine


trees = st.recursive(
    st.text(alphabet='[]{}"\\a', max_size=4) | st.integers(0, 9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('[]{}"\\a', max_size=3), inner, max_size=3)
    ),
)


@given(tree=trees, extra=st.integers(0, 45))
@pytest.mark.slow
def test_the_depth_check_agrees_with_a_parser(tree: Any, extra: int) -> None:
    text = "[" * extra + json.dumps(tree) + "]" * extra
    depth = _depth(json.loads(text))
    try:
        check_json_depth(text.encode())
    except JsonTooDeep:
        assert depth > MAX_DEPTH
    else:
        assert depth <= MAX_DEPTH


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - parsed JSON
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0  # pyright: ignore[reportUnknownArgumentType] - parsed JSON


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/accounts/me", {"is_private": 0}),
        ("/accounts/me", {"is_private": 1}),
        ("/accounts/me", {"is_private": "true"}),
        ("/accounts/me", {"full_name": 5}),
        ("/accounts/me", {"unknown": "field"}),
        ("/accounts/me", []),
        ("/accounts/me", "text"),
    ],
)
async def test_a_value_of_another_type_is_refused(ana: Person, path: str, body: Any) -> None:
    answer = await ana.call("PATCH", path, json=body)

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


async def test_a_refused_field_is_named(ana: Person) -> None:
    answer = await ana.call("POST", "/places", json={"name": "Pier", "latitude": "1", "longitude": 2})

    assert answer.json()["detail"] == "latitude: Expected `float`, got `str`"


@pytest.mark.parametrize(
    "text", ["", "{", '{"username": }', "NaN", '{"a": Infinity}', '"\\ud800', "\xff", "01"]
)
async def test_what_is_no_json_is_refused(client: AsyncClient, text: str) -> None:
    answer = await client.post("/api/v1/accounts", content=text.encode("latin-1"), headers=JSON)

    assert answer.status_code == 400
    assert answer.json()["code"] in {"json_malformed", "invalid", "text_invalid"}


@pytest.mark.parametrize(
    "number",
    ["1e-200", "-1e-200", "1e-400", "0." + "0" * 200 + "1", "1e400", "NaN", "9" * 5_000, "Infinity", "1e-10"],
)
async def test_numbers_that_cannot_be_calculated_with_are_refused_in_bodies(ana: Person, number: str) -> None:
    body = f'{{"name": "Pier", "latitude": {number}, "longitude": 2}}'

    answer = await ana.call("POST", "/places", content=body.encode(), headers=JSON)

    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize(
    "number", ["0", "-0.0", "0.0", "0e-99", "1e-9", "12.000000001", "1.5e1", "89.99999999999999"]
)
async def test_ordinary_numbers_are_accepted_in_bodies_and_queries(ana: Person, number: str) -> None:
    body = f'{{"name": "Pier 1e-200", "latitude": {number}, "longitude": 2}}'

    made = await ana.call("POST", "/places", content=body.encode(), headers=JSON)
    near = await ana.call("GET", "/places/nearby", params={"lat": number, "lon": number})

    assert (made.status_code, near.status_code) == (201, 200), made.text + near.text


@pytest.mark.parametrize(
    "text", ["1e1", "+5", "05", "-0", "5.0", " 5", "5 ", "\u0665", "true", "", "0x5", "1_0", "9" * 400]
)
async def test_a_whole_number_in_a_query_is_written_in_digits(ana: Person, text: str) -> None:
    answer = await ana.call("GET", f"/search/people?q=a&limit={quote(text)}")

    assert (answer.status_code, answer.json()["code"]) == (400, "number_invalid")


@pytest.mark.parametrize("text", ["0", "1", "True", "TRUE", "yes", "", "null"])
async def test_a_boolean_in_a_query_is_true_or_false(ana: Person, text: str) -> None:
    answer = await ana.call("GET", f"/feed?explain={text}")

    assert (answer.status_code, answer.json()["code"]) == (400, "boolean_invalid")


async def test_an_unknown_word_for_a_choice_is_refused(ana: Person) -> None:
    answer = await ana.call("GET", "/feed", params={"mode": "random"})

    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


odd_numbers = (
    st.floats(allow_nan=True, allow_infinity=True).map(repr)
    | st.integers().map(str)
    | st.sampled_from(
        ["1e-200", "-1e-320", "1e400", "nan", "-inf", "0x1p-3", "1e", ".", "--1", "\u0661", "1,5", "5e-324"]
    )
    | st.text(max_size=12)
    | st.floats(-90, 90).map(repr)
)


@pytest.mark.slow
async def test_places_nearby_answers_whatever_its_parameters_are(ana: Person) -> None:
    tried: list[dict[str, str]] = []

    @hypothesis_settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(
        st.fixed_dictionaries(
            {"lat": odd_numbers, "lon": odd_numbers},
            optional={"radius_m": odd_numbers, "limit": odd_numbers, "cursor": st.text(max_size=5)},
        )
    )
    def collect(params: dict[str, str]) -> None:
        tried.append(params)

    collect()
    await ana.call("POST", "/places", json={"name": "Null Island", "latitude": 0, "longitude": 0})
    for params in tried:
        answer = await ana.call("GET", "/places/nearby", params=params)
        assert answer.status_code in {200, 400}, (params, answer.text)


async def test_a_password_is_not_read_from_a_number(client: AsyncClient) -> None:
    answer = await client.post("/api/v1/accounts", json={"username": "numb", "password": 12345678})
    again = await client.post("/api/v1/accounts", json={"username": "numb", "password": PASSWORD})

    assert (answer.status_code, again.status_code) == (400, 201)
