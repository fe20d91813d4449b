"""The API keeps to its own description, whatever is sent to it."""

import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import checks
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi import checks as of_description

from tests.support import PASSWORD
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
    r"^/(healthz|readyz|metrics|media/|api$|api/docs)|/sessions/current|/accounts/me/deletion"
)
"""Not of the API, or ends the session that the others need."""
PATIENCE_S = 30


@pytest.fixture(scope="module")
def served(settings: Settings, opened_rooms: Rooms) -> Iterator[str]:
    """The address of a web process on this test's engines."""
    assert opened_rooms
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {
        "TINTYPE_HOME": str(settings.home),
        "TINTYPE_POSTGRES": " ".join(settings.postgres),
        "TINTYPE_REDIS": settings.redis,
        "TINTYPE_NATS": " ".join(settings.nats),
        "TINTYPE_NAMESPACE": settings.namespace,
        "TINTYPE_SECRET_KEY": settings.secret_key,
        "TINTYPE_SHARD_COUNT": str(settings.shard_count),
        "TINTYPE_LOG_LEVEL": "error",
    }
    log = Path(settings.home, "web.log")
    with log.open("w") as output:
        process = Popen(
            [sys.executable, "-m", "tintype", "web", "--port", str(port)],
            env=environment,
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


@pytest.mark.slow
def test_no_input_breaks_a_promise_of_the_description(served: str) -> None:
    answer = httpx.post(
        f"{served}/api/v1/accounts", json={"username": "fuzzer", "password": PASSWORD}, timeout=30
    )
    headers = {"Authorization": f"Bearer {answer.raise_for_status().json()['token']}"}
    schema: Any = schemathesis.openapi.from_url(f"{served}/api/openapi.json")
    broken: list[str] = []
    operations: list[Any] = [found.ok() for found in schema.get_all_operations()]
    for operation in operations:
        if not LEFT_OUT.search(operation.path):
            broken += _try(operation, headers)
    assert len(operations) > 20
    assert "\n\n".join(broken) == ""


def _try(operation: Any, headers: dict[str, str]) -> list[str]:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=operation.as_strategy())
    def hold(case: Any) -> None:
        case.call_and_validate(checks=CHECKS, headers=headers)

    try:
        hold()
    except (FailureGroup, Failure) as failure:
        reasons = failure.exceptions if isinstance(failure, FailureGroup) else [failure]
        return [f"{operation.label}: {str(each)[:600]}" for each in reasons]
    return []


def test_every_operation_says_what_it_does_and_how_it_refuses() -> None:
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
