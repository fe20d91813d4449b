"""`shardwright roles` and `shardwright install`: an application without DDL, by two commands."""

import secrets
from pathlib import Path
from typing import Any

import pytest

Cli = Any  # the fixtures' types live in conftest, which cannot be imported
Site = Any

QUERIES = """
-- name: list_posts
SELECT id, caption FROM posts;

-- name: get_posts
SELECT id, caption FROM posts WHERE id = ANY(:ids);
"""


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    path = tmp_path / "queries.sql"
    path.write_text(QUERIES)
    return path


def options(site: Site) -> list[str]:
    return [word for name in ("a", "b") for word in ("-s", f"{name}={site.servers[name]}")]


def prefix() -> str:
    """Roles belong to a server, which the tests of a run share."""
    return f"cli_{secrets.token_hex(4)}"


@pytest.mark.slow
async def test_roles_are_created_once_and_their_addresses_printed_once(site: Site) -> None:
    name = prefix()
    first = await site.cli("roles", "--prefix", name, *options(site), "--json")
    assert first.exit_code == 0, first.stderr
    made = first.json()
    assert set(made["addresses"]) == {f"{name}_migrator", f"{name}_runtime", f"{name}_reader"}
    assert len(made["servers"]["a"]["created"]) == 4
    assert "s0000" in {*made["servers"]["a"]["adopted"], *made["servers"]["b"]["adopted"]}

    again = await site.cli("roles", "--prefix", name, *options(site))
    assert again.exit_code == 0
    shown = again.stdout + again.stderr
    assert "0 roles created, 0 schemas" in shown
    assert "signs in with" not in shown


@pytest.mark.slow
async def test_queries_are_installed_by_the_migrator_and_not_by_the_runtime(
    site: Site, queries: Path
) -> None:
    name = prefix()
    made = (await site.cli("roles", "--prefix", name, *options(site), "--json")).json()["addresses"]

    site.cli.environment["SHARDWRIGHT_DIRECTORY"] = made[f"{name}_migrator"][0]
    pairs = zip(("a", "b"), made[f"{name}_migrator"], strict=True)
    # The map holds the addresses of the servers, so they change with the role.
    await site.cli("init", *(word for server, dsn in pairs for word in ("-s", f"{server}={dsn}")))
    done = await site.cli("install", str(queries), "--json")
    assert [each["created"] for each in done.json()] == [3, 3]
    again = await site.cli("install", str(queries))
    assert "2 queries, 0 functions created" in again.stdout + again.stderr

    site.cli.environment["SHARDWRIGHT_DIRECTORY"] = made[f"{name}_runtime"][0]
    refused = await site.cli("init", "--shards", "8")
    assert refused.exit_code == 1
    assert "permission denied" in refused.stderr


async def test_a_query_that_does_not_fit_is_named_and_the_command_fails(site: Site, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.sql"
    wrong.write_text("-- name: lost\nSELECT id FROM nothing;")
    ran = await site.cli("install", str(wrong))

    assert ran.exit_code == 1
    assert "lost is not installed" in ran.stdout + ran.stderr


@pytest.mark.slow
async def test_a_role_that_only_some_servers_have_needs_its_password(site: Site) -> None:
    name = prefix()
    assert (await site.cli("roles", "--prefix", name, "-s", f"a={site.servers['a']}")).exit_code == 0
    ran = await site.cli("roles", "--prefix", name, *options(site))

    assert ran.exit_code == 1
    assert "SHARDWRIGHT_MIGRATOR_PASSWORD" in ran.stderr

    site.cli.environment |= {
        f"SHARDWRIGHT_{kind}_PASSWORD": "known" for kind in ("MIGRATOR", "RUNTIME", "READER")
    }
    assert (await site.cli("roles", "--prefix", name, *options(site))).exit_code == 0
