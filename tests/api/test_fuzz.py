"""Random requests to every operation of the OpenAPI document, with another seed in each run and with every token scope.

A failure names its seed: `TINTYPE_FUZZ_SEED=… ./tintype test all -- tests/api/test_fuzz.py` repeats it.
"""

import importlib
import os
import random
import secrets
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from subprocess import Popen, run
from typing import Any

import httpx
import pytest

from tests.support import PASSWORD, RowCleaner, photo
from tintype.api.http import scopes
from tintype.base.settings import Settings
from tintype.wiring import Rooms

SEED = int(os.environ.get("TINTYPE_FUZZ_SEED") or secrets.randbits(32))
EXAMPLES = 8
PER_SCOPE = 40
"""Operations that the token of one scope tries in a run; each run takes others."""
TUS = {"Tus-Resumable": "1.0.0"}
PATIENCE_S = 30


@pytest.fixture(scope="module")
def fuzzing() -> Any:
    """The module that needs schemathesis: loading it takes a second, which every collection of tests would pay."""
    return importlib.import_module("tests.api.fuzz_operations")


@pytest.fixture(scope="module")
async def emptied_afterwards(opened_rooms: Rooms, row_cleaner: RowCleaner) -> AsyncIterator[None]:
    """What these tests write is gone when they are done."""
    yield
    await row_cleaner.run()
    await opened_rooms.redis.flushdb()


@pytest.fixture(scope="module")
def served(settings: Settings, emptied_afterwards: None) -> Iterator[str]:
    """The address of a web process on this test's engines."""
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
def operations(served: str, fuzzing: Any) -> list[Any]:
    """What can be called, in an order in which nothing is ended before it was used."""
    found = fuzzing.list_operations(f"{served}/api/openapi.json")
    assert len(found) > 100
    return found


@pytest.fixture(scope="module")
def known(fuzzer: httpx.Client) -> dict[str, str]:
    return _create_objects(fuzzer)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_every_response_conforms_to_the_openapi_document(
    fuzzing: Any, operations: list[Any], fuzzer: httpx.Client, known: dict[str, str], mode: str
) -> None:
    credential = {"Authorization": fuzzer.headers["Authorization"]}
    broken: list[str] = []
    for operation in operations:
        broken += fuzzing.try_operation(
            operation, credential | TUS, known, mode=mode, examples=EXAMPLES, chosen_seed=SEED
        )
    assert "\n\n".join(broken) == "", f"TINTYPE_FUZZ_SEED={SEED}"
    assert fuzzer.get("/accounts/me").is_success, "an operation ended the session: leave it out"


@pytest.mark.slow
@pytest.mark.parametrize("scope", sorted(scopes.ALL))
def test_a_token_of_any_scope_gets_documented_responses(
    fuzzing: Any, operations: list[Any], fuzzer: httpx.Client, known: dict[str, str], scope: str
) -> None:
    made = fuzzer.post("/tokens", json={"name": scope, "scopes": [scope]}).raise_for_status().json()
    credential = {"Authorization": f"Bearer {made['token']}"}
    broken: list[str] = []
    sample = random.Random(f"{SEED} {scope}").sample(operations, PER_SCOPE)  # noqa: S311 - picks test cases
    for operation in sample:
        broken += fuzzing.try_operation(operation, credential | TUS, known, examples=2, chosen_seed=SEED)
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
    begun = make("/imports", {"source": "instagram"})["import_id"]
    archive = fuzzer.post(f"/imports/{begun}/archives", headers=TUS | {"Upload-Length": "9"}).headers[
        "Location"
    ]
    case = {"kind": "account", "object_id": judged, "reason": "none"}
    return {
        "import_id": begun,
        "archive_id": archive.rsplit("/", 1)[1],
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
