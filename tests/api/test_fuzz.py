"""Random requests to every operation of the OpenAPI document, with another seed in each run and with every token scope.

A failure names its seed: `TINTYPE_FUZZ_SEED=… ./tintype test all -- tests/api/test_fuzz.py` repeats it.
"""

import os
import random
import re
import secrets
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
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from hypothesis.errors import Unsatisfiable
from schemathesis import checks
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as of_description

from tests.support import PASSWORD, photo
from tintype.api.http import scopes
from tintype.base.settings import Settings
from tintype.wiring import Rooms

SEED = int(os.environ.get("TINTYPE_FUZZ_SEED") or secrets.randbits(32))
ALWAYS: list[Any] = [  # partly typed, and only handed on
    checks.not_a_server_error,
    of_description.status_code_conformance,
    of_description.content_type_conformance,
    of_description.response_schema_conformance,
]
CHECKS: dict[GenerationMode, list[Any]] = {
    GenerationMode.POSITIVE: ALWAYS,
    GenerationMode.NEGATIVE: [*ALWAYS, of_description.negative_data_rejection],
}
EXAMPLES = 8
PER_SCOPE = 40
"""Operations that the token of one scope tries in a run; each run takes others."""
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


@pytest.fixture(scope="module")
def operations(served: str) -> list[Any]:
    """What can be called, in an order in which nothing is ended before it was used."""
    schema: Any = schemathesis.openapi.from_url(f"{served}/api/openapi.json")
    found = [each.ok() for each in schema.get_all_operations()]
    found = [each for each in found if not LEFT_OUT.search(each.path)]
    assert len(found) > 100
    return sorted(found, key=lambda each: ORDER.index(each.method))


@pytest.fixture(scope="module")
def known(fuzzer: httpx.Client) -> dict[str, str]:
    return _create_objects(fuzzer)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_response_conforms_to_the_openapi_document(
    operations: list[Any], fuzzer: httpx.Client, known: dict[str, str], mode: GenerationMode
) -> None:
    broken: list[str] = []
    for operation in operations:
        broken += _try(operation, fuzzer.headers["Authorization"], known, mode=mode, examples=EXAMPLES)
    assert "\n\n".join(broken) == "", f"TINTYPE_FUZZ_SEED={SEED}"
    assert fuzzer.get("/accounts/me").is_success, "an operation ended the session: leave it out"


@pytest.mark.slow
@pytest.mark.parametrize("scope", sorted(scopes.ALL))
def test_a_token_of_any_scope_gets_documented_responses(
    operations: list[Any], fuzzer: httpx.Client, known: dict[str, str], scope: str
) -> None:
    made = fuzzer.post("/tokens", json={"name": scope, "scopes": [scope]}).raise_for_status().json()
    broken: list[str] = []
    sample = random.Random(f"{SEED} {scope}").sample(operations, PER_SCOPE)  # noqa: S311 - picks test cases
    for operation in sample:
        broken += _try(operation, f"Bearer {made['token']}", known, examples=2)
    assert "\n\n".join(broken) == "", f"TINTYPE_FUZZ_SEED={SEED}"


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


def _try(
    operation: Any,
    credential: str,
    known: dict[str, str],
    *,
    mode: GenerationMode = GenerationMode.POSITIVE,
    examples: int,
) -> list[str]:
    @seed(SEED)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy(generation_mode=mode), uses_known_ids=strategies.booleans())
    def check(case: Any, *, uses_known_ids: bool) -> None:
        if (
            uses_known_ids and mode is GenerationMode.POSITIVE
        ):  # a known id might make valid what is to be refused
            _use_known_ids(case, known)
        case.call_and_validate(checks=CHECKS[mode], headers={"Authorization": credential, **TUS})

    try:
        check()
    except Unsatisfiable:
        return []  # nothing that can be sent would be invalid
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
