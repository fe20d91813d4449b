"""A whole installation whose database is broken for a while: none of its logs holds what people sent meanwhile."""

import json

import pytest
from httpx import AsyncClient

from tests.living_stack import LivingStack
from tests.support import PASSWORD, join, on_server

SECRETS = (
    "hunter22-planted",
    "cookie-planted-4711",
    "csrf-planted-1234",
    "bearer-planted-0815",
    "code-planted",
)
pytestmark = pytest.mark.slow


async def rename(stack: LivingStack, table: str, new_name: str) -> None:
    """Rename a table on every shard, as the role that may."""
    found = json.loads((stack.home / "secrets" / "addresses.json").read_text())
    for dsn in found.get("postgres_migrator") or found["postgres"]:
        schemas = await on_server(dsn, "SELECT nspname FROM pg_namespace WHERE nspname ~ '^s[0-9]{4}$'")
        await on_server(
            dsn, *(f"ALTER TABLE {each['nspname']}.{table} RENAME TO {new_name}" for each in schemas)
        )


async def test_a_broken_database_brings_no_secret_into_any_log(living_stack: LivingStack) -> None:
    async with AsyncClient(base_url=living_stack.address, timeout=60) as client:
        ana = await join(client, "ana")
        await rename(living_stack, "accounts", "accounts_away")
        statuses = [await _send(client, ana.token, number) for number in range(8)]
        await rename(living_stack, "accounts_away", "accounts")
        assert (await ana.call("GET", "/accounts/me")).status_code == 200

    assert max(statuses) == 500
    assert living_stack.crashes()
    logs = [*(living_stack.home / "logs").iterdir(), *living_stack.home.parent.glob("up-*.log")]
    assert {"web.log", "worker.log", "postgres-1.log"} <= {each.name for each in logs}
    for log in logs:
        text = log.read_text()
        assert not [each for each in (*SECRETS, PASSWORD, ana.token) if each in text], log.name


async def _send(client: AsyncClient, token: str, number: int) -> int:
    """Send a request with secrets of every kind."""
    planted = {
        "Authorization": f"Bearer {SECRETS[3] if number % 2 else token}",
        "Cookie": f"tt_session={SECRETS[1]}",
        "X-CSRF-Token": SECRETS[2],
        "User-Agent": "forged\tline",
    }
    calls = (
        ("POST", "/sessions", {"username": "ana", "password": SECRETS[0]}),
        ("POST", "/accounts", {"username": f"bea{number}", "password": SECRETS[0], "full_name": SECRETS[4]}),
        ("PATCH", "/accounts/me", {"bio": SECRETS[4]}),
        ("GET", f"/accounts/by-name/ana?token={SECRETS[0]}", None),
    )
    method, path, body = calls[number % len(calls)]
    answer = await client.request(method, f"/api/v1{path}", json=body, headers=planted if number > 3 else {})
    client.cookies.clear()
    return answer.status_code
