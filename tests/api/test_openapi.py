"""The API conforms to its OpenAPI document, whatever is sent to it (fuzzing)."""

import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen, run
from typing import Any, cast

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings, strategies
from schemathesis import checks
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi import checks as of_description

from tests.support import PASSWORD, photo
from tintype.api import create_app
from tintype.base.settings import Settings
from tintype.wiring import Rooms

CHECKS: list[Any] = [  # partly typed, and only handed on
    checks.not_a_server_error,
    of_description.status_code_conformance,
    of_description.content_type_conformance,
    of_description.response_schema_conformance,
]
EXAMPLES = 8
LEFT_OUT = re.compile(
    r"^/(healthz|readyz|metrics|media/|api$|api/docs)|/sessions/current|/accounts/me/(deletion|deactivation)"
)
"""Not of the API, or ends the session that the others need."""
ORDER = ("head", "get", "post", "patch", "put", "delete")
"""What ends or hides something comes after what needs it."""
TUS = {"Tus-Resumable": "1.0.0"}
PATIENCE_S = 30


@pytest.fixture(scope="module")
def served(settings: Settings, opened_rooms: Rooms) -> Iterator[str]:
    """The address of a web process on this test's engines."""
    assert opened_rooms
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = Path(settings.home, "web.log")
    with log.open("w") as output:
        process = Popen(
            [sys.executable, "-m", "tintype", "web", "--port", str(port)],
            env=_environment(settings),
            stdout=output,
            stderr=output,
        )
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + PATIENCE_S
    while not _is_up(address):
        assert time.monotonic() < deadline, log.read_text()[-2000:]
        time.sleep(0.1)
    yield address
    process.terminate()
    process.wait(10)


@pytest.fixture(scope="module")
def fuzzer(served: str, settings: Settings) -> Iterator[httpx.Client]:
    """Somebody signed in, who is a moderator as well, so that no route is closed."""
    with httpx.Client(base_url=f"{served}/api/v1", timeout=30) as client:
        joined = client.post("/accounts", json={"username": "fuzzer", "password": PASSWORD})
        client.cookies.clear()
        client.headers["Authorization"] = f"Bearer {joined.raise_for_status().json()['token']}"
        command = [sys.executable, "-m", "tintype", "accounts", "role", "fuzzer", "moderator"]
        run(command, env=_environment(settings), check=True, capture_output=True)
        yield client


@pytest.mark.slow
def test_every_response_conforms_to_the_openapi_document(served: str, fuzzer: httpx.Client) -> None:
    known = _create_objects(fuzzer)
    schema: Any = schemathesis.openapi.from_url(f"{served}/api/openapi.json")
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]
    broken: list[str] = []
    for operation in sorted(operations, key=lambda each: ORDER.index(each.method)):
        if not LEFT_OUT.search(operation.path):
            broken += _try(operation, fuzzer.headers["Authorization"], known)
    assert len(operations) > 20
    assert "\n\n".join(broken) == ""
    assert fuzzer.get("/accounts/me").is_success, "an operation ended the session: leave it out"


def _create_objects(fuzzer: httpx.Client) -> dict[str, str]:
    """Create one object of each kind, so that some requests find something."""

    def make(path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        return fuzzer.post(path, json=body, **more).raise_for_status().json()

    other, judged = (
        make("/accounts", {"username": name, "password": PASSWORD})["account"]["account_id"]
        for name in ("other", "judged")
    )
    fuzzer.cookies.clear()
    media, spare = (
        make("/media/upload", files={"file": ("photo.jpg", photo(), "image/jpeg")})["media_id"] for _ in "12"
    )
    place = make("/places", {"name": "Long Bridge", "latitude": 1, "longitude": 2})["place_id"]
    post = make("/posts", {"media_ids": [media], "caption": "#sea @other"})["post_id"]
    sent: dict[str, Any] = {
        "files": {"file": ("photo.jpg", photo(), "image/jpeg")},
        "data": {"kind": "story"},
    }
    shown = fuzzer.post("/media/upload", **sent).raise_for_status().json()["media_id"]
    story = make("/stories", {"media_id": shown})["story_id"]
    upload = fuzzer.post("/media/tus", headers=TUS | {"Upload-Length": "9"}).headers["Location"]
    case = {"kind": "account", "object_id": judged, "reason": "none"}
    return {
        "account_id": other,
        "username": "other",
        "media_id": spare,
        "upload_id": upload.rsplit("/", 1)[1],
        "place_id": place,
        "post_id": post,
        "object_id": post,
        "comment_id": make(f"/posts/{post}/comments", {"text": "mine"})["comment_id"],
        "collection_id": make("/collections", {"name": "sea"})["collection_id"],
        "story_id": story,
        "highlight_id": make("/highlights", {"title": "sea", "story_ids": [story]})["highlight_id"],
        "case_id": make("/moderation/cases", case)["case_id"],
        "export_id": make("/accounts/me/exports")["export_id"],
        "search_id": make("/search/recent", {"kind": "words", "subject": "sea"})["search_id"],
        "token_id": make("/tokens", {"name": "sea", "scopes": ["read"]})["about"]["token_id"],
    }


def _try(operation: Any, credential: str, known: dict[str, str]) -> list[str]:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(), uses_known_ids=strategies.booleans())
    def check(case: Any, *, uses_known_ids: bool) -> None:
        if uses_known_ids:
            _use_known_ids(case, known)
        case.call_and_validate(checks=CHECKS, headers={"Authorization": credential, **TUS})

    try:
        check()
    except (FailureGroup, Failure) as failure:
        reasons = failure.exceptions if isinstance(failure, FailureGroup) else [failure]
        return [f"{operation.label}: {str(each)[:600]}" for each in reasons]
    return []


def _use_known_ids(case: Any, known: dict[str, str]) -> None:
    """Replace generated ids by those of existing objects."""
    for named in (case.path_parameters, case.body):
        if isinstance(named, dict):
            found = cast("dict[str, Any]", named)
            found |= {name: known[name] for name in found if name in known}
            if "media_ids" in found:
                found["media_ids"] = [known["media_id"]]


def test_every_operation_has_a_description_and_an_error_response() -> None:
    document = create_app(Settings()).openapi_schema.to_schema()
    operations = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in {"get", "put", "post", "delete", "patch"}
    ]

    assert [
        name for name, each in operations if not each.get("summary") or "default" not in each["responses"]
    ] == []


def test_schema_names_are_unique_without_a_prefix() -> None:
    schemas = create_app(Settings()).openapi_schema.to_schema()["components"]["schemas"]

    assert [name for name in schemas if "_" in name] == []


def test_every_field_has_an_example() -> None:
    document = create_app(Settings()).openapi_schema.to_schema()
    bare = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, about in schema.get("properties", {}).items()
        if about.get("type") in {"string", "integer", "number", "boolean"}
        and not {"examples", "enum", "const"} & about.keys()
    ]

    assert bare == []


def _is_up(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz", timeout=1).is_success
    except httpx.HTTPError:
        return False


def _environment(settings: Settings) -> dict[str, str]:
    return os.environ | {
        "TINTYPE_HOME": str(settings.home),
        "TINTYPE_POSTGRES": " ".join(settings.postgres),
        "TINTYPE_REDIS": settings.redis,
        "TINTYPE_NATS": " ".join(settings.nats),
        "TINTYPE_NAMESPACE": settings.namespace,
        "TINTYPE_SECRET_KEY": settings.secret_key,
        "TINTYPE_SHARD_COUNT": str(settings.shard_count),
        "TINTYPE_LOG_LEVEL": "error",
    }
