"""Logs hold no secrets, whatever fails: every route is called with planted secrets while all it needs is broken."""

import io
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any, cast

import msgspec
import pytest
import structlog
from httpx import AsyncClient
from litestar.routes import HTTPRoute

from tests.support import PASSWORD, Person
from tintype.api import create_app
from tintype.base.log import StandardError, begin_request, get_log, set_up_log
from tintype.base.redaction import HIDDEN, redact
from tintype.base.settings import Settings
from tintype.base.tracebacks import describe_error
from tintype.wiring import Rooms

SECRET = "sécret \"pass\\word' 47"
SECRETS = {
    "query": "query-secret-0815",
    "cookie": "cookie-secret-4711",
    "csrf": "csrf-secret-1234",
    "reset": "https://photos.example.org/reset-password#reset-secret-99",
    "presigned": "https://s3.example.org/bucket/key?X-Amz-Signature=presigned-secret-5",
    "push": "https://push.example.org/send/push-secret-77",
    "recovery": "abcd-efgh-jkmn",
}
"""Planted, each where it belongs."""
TRACES = (SECRET, *SECRETS.values(), "reset-secret", "presigned-secret", "push-secret", "pass\\word", "cret ")
"""What would be a leak wherever it stands in a log."""


class Broken:
    """Stands for all rooms: whatever is asked of it fails with an error that quotes everything it was given."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def __getattr__(self, name: str) -> Any:
        return BrokenPart()


class BrokenPart:
    """A part of a room, or a part of a part."""

    def __getattr__(self, name: str) -> "BrokenPart":
        return self

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Fail, with all arguments in the message and in the frame."""
        texts = [repr(args), repr(options), *(str(each) for each in (*args, *options.values()))]
        raise RuntimeError(f"broken: {' '.join(texts)} {SECRETS['push']} {SECRETS['presigned']}")


@pytest.fixture
def log_text(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the process writes to its log, in the format that the test asks for."""
    written = io.StringIO()

    def write(_: StandardError, text: str) -> int:
        return written.write(text)

    before, handlers, level, hook = (
        structlog.get_config(),
        logging.root.handlers[:],
        logging.root.level,
        sys.excepthook,
    )
    with monkeypatch.context() as patched:
        patched.setattr(StandardError, "write", write)
        set_up_log(Settings(log_format=getattr(request, "param", "text"), log_level="debug"), process="web")
        # Loggers are made when their modules are imported, and those that were used keep where they wrote to.
        for name, module in list(sys.modules.items()):
            if name.startswith("tintype.") and hasattr(module, "log"):
                patched.setattr(module, "log", get_log(name))
        yield written
    structlog.configure(**before)
    logging.root.handlers[:], sys.excepthook = handlers, hook
    logging.root.setLevel(level)


def all_requests() -> Iterator[tuple[str, str, Any]]:
    """Method, path and body of a request to every route."""
    for route in create_app(Settings()).routes:
        for handler in route.route_handlers if isinstance(route, HTTPRoute) else ():
            found = cast("Any", handler)
            data = found.parsed_fn_signature.parameters.get("data")
            body = plant(msgspec.inspect.type_info(data.annotation)) if data is not None else None
            for method in sorted(found.http_methods - {"OPTIONS"}):
                yield method, re.sub(r"\{[^}]*\}", "1", route.path), body


def plant(kind: Any, name: str = "") -> Any:  # noqa: PLR0911 - one line for each type
    """A value of a type, with a secret wherever a text goes."""
    match kind:
        case msgspec.inspect.StructType():
            return {each.encode_name: plant(each.type, each.encode_name) for each in kind.fields}
        case msgspec.inspect.StrType():
            by_name = {"endpoint": SECRETS["push"], "code": SECRETS["recovery"], "token": SECRETS["reset"]}
            return "1" if kind.pattern else by_name.get(name, SECRET)[: kind.max_length]
        case msgspec.inspect.ListType() | msgspec.inspect.VarTupleType():
            return [plant(kind.item_type, name)]
        case msgspec.inspect.DictType():
            return {"id": SECRET, "nested": [SECRET]}
        case msgspec.inspect.UnionType():
            return plant(next(each for each in kind.types if type(each).__name__ != "NoneType"), name)
        case msgspec.inspect.LiteralType():
            return kind.values[0]
        case msgspec.inspect.BoolType():
            return True
        case msgspec.inspect.IntType() | msgspec.inspect.FloatType():
            return kind.ge or 1
        case msgspec.inspect.Metadata():
            return plant(kind.type, name)
        case _:
            return SECRET


@pytest.mark.slow
@pytest.mark.parametrize("log_text", ["text", "json"], indirect=True)
async def test_a_failing_request_leaves_none_of_its_secrets_in_the_log(
    rooms: Rooms, client: AsyncClient, ana: Person, log_text: io.StringIO
) -> None:
    state = cast("Any", client)._transport.app.app.state
    signed_in = {"Authorization": f"Bearer {ana.token}"}
    cookies = f"tt_session={SECRETS['cookie']}; tt_device={SECRETS['cookie']}"
    planted = {"Cookie": cookies, "X-CSRF-Token": SECRETS["csrf"]}
    query = {"token": SECRETS["query"], "cursor": SECRETS["query"], "q": "x", "lat": "1", "lon": "1"}
    statuses: list[int] = []
    state.rooms = Broken(rooms.settings)
    try:
        for method, path, body in all_requests():
            for headers in (signed_in, planted, signed_in | planted):
                answer = await client.request(method, path, json=body, headers=headers, params=query)
                statuses.append(answer.status_code)
                client.cookies.clear()
    finally:
        state.rooms = rooms

    text = log_text.getvalue()
    assert statuses.count(500) > 100
    assert "broken: " in text
    assert "Traceback" in text
    assert [each for each in (*TRACES, ana.token) if each in text] == []


@pytest.mark.parametrize("log_text", ["text", "json"], indirect=True)
async def test_a_broken_database_brings_no_password_into_the_log(
    rooms: Rooms, client: AsyncClient, ana: Person, log_text: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> Any:
        raise RuntimeError(f"broken: {args!r} {options!r} {PASSWORD} {SECRET}")

    monkeypatch.setattr(type(rooms.shards), "of", fail)
    monkeypatch.setattr(type(rooms.shards), "owner", fail)
    answers = [
        await client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD, "x": SECRET}),
        await client.post("/api/v1/sessions", json={"username": SECRET, "password": PASSWORD}),
        await client.post(
            "/api/v1/accounts", json={"username": "bea", "password": PASSWORD, "full_name": SECRET}
        ),
    ]

    assert 500 in {answer.status_code for answer in answers}
    assert "broken: " in log_text.getvalue()
    assert PASSWORD not in log_text.getvalue()


async def test_control_characters_from_outside_are_escaped(
    client: AsyncClient, log_text: io.StringIO
) -> None:
    forged = "/x%0a2026-11-16T00:00:00Z [info] forged%1b[2J%e2%80%ae%c2%85%7f"
    await client.get(forged, headers={"User-Agent": "a\tb", "X-Request-Id": "a\tb"})
    await client.get("/api/v1/accounts/by-name/a%0d%0aforged")

    text = log_text.getvalue()
    assert "forged" in text
    assert not [line for line in text.splitlines() if "forged" in line and "request." not in line]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", text)


def test_tracebacks_show_no_values_and_one_line_for_each_message(log_text: io.StringIO) -> None:
    def fail(password: str) -> None:
        raise ValueError(f"first\nsecond {len(password)}")

    begin_request("abc")
    try:
        fail(SECRET)
    except ValueError as error:
        get_log("tests").error("test.failed", exc_info=error, error=describe_error(error))

    text = log_text.getvalue()
    assert SECRET not in text
    assert "in fail" in text
    assert "ValueError: first\\nsecond" in text


def test_what_libraries_log_takes_the_same_way(log_text: io.StringIO) -> None:
    logging.getLogger("some.library").warning("GET https://push.example.org/send/push-secret-77\n\x1b[1m")
    logging.getLogger("asyncio").error("never retrieved", exc_info=RuntimeError("Bearer abcdefgh.ijkl"))

    text = log_text.getvalue()
    assert "library.logged" in text
    assert not re.search("push-secret|abcdefgh|\x1b", text)


def test_a_crash_of_the_process_is_logged_like_any_other_error(log_text: io.StringIO) -> None:
    sys.excepthook(RuntimeError, RuntimeError("postgresql://tintype:hunter22@127.0.0.1/x refused"), None)

    assert "process.crashed" in log_text.getvalue()
    assert "hunter22" not in log_text.getvalue()


def test_the_offending_row_stays_out_of_the_log() -> None:
    error = RuntimeError(
        "duplicate key value\nDETAIL:  Key (value)=(ana@example.org) already exists.\nHINT: x"
    )

    assert describe_error(error) == "RuntimeError: duplicate key value"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {HIDDEN}"),
        ("tt_session=abc; tt_csrf=def", f"tt_session={HIDDEN}; tt_csrf={HIDDEN}"),
        ("redis://:hunter22@127.0.0.1:6379/0", f"redis://{HIDDEN}@127.0.0.1:6379/0"),
        ("GET /x?sig=abc&e=1", f"GET /x?sig={HIDDEN}&e={HIDDEN}"),
        ("https://a.example/b/c?d#e failed", f"https://a.example/{HIDDEN} failed"),
        ("{'password': 'abc'}", f"{{'password': '{HIDDEN}'}}"),
        ("q9" * 30, HIDDEN),
        ("post 141402734592003 is gone", "post 141402734592003 is gone"),
        (
            "a_long_name_of_a_function_in_our_own_code_stays",
            "a_long_name_of_a_function_in_our_own_code_stays",
        ),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize("log_text", ["json"], indirect=True)
async def test_a_request_has_one_line_that_names_its_account(
    ana: Person, bo: Person, log_text: io.StringIO
) -> None:
    post = await ana.publish()
    await bo.call("GET", "/feed")  # the first read builds the timeline, and says so
    log_text.truncate(log_text.seek(0))
    await bo.call("GET", "/feed")
    await bo.call("PUT", f"/posts/{post['post_id']}/like")
    await bo.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "Well seen"})
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    lines = [msgspec.json.decode(each) for each in log_text.getvalue().splitlines()]
    served = [each for each in lines if each["level"] != "debug"]
    assert [each["event"] for each in served] == ["request.served"] * 4
    assert [each["account_id"] for each in served] == [int(bo.account_id)] * 4
