"""`shardwright widen` and `shardwright adopt`, one after the other, as an operator runs them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from shardwright.local import LocalServer
from shardwright.topology import fetch_value, open_connection

Site = Any  # the fixtures' types live in conftest, which cannot be imported
FreshDatabase = Callable[[LocalServer], Awaitable[str]]

OLD = """
CREATE TABLE countries (id serial PRIMARY KEY, name text UNIQUE NOT NULL);
CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL, country_id integer REFERENCES countries);
CREATE TABLE invoices (id serial PRIMARY KEY, customer_id integer NOT NULL REFERENCES customers, total numeric);
CREATE VIEW totals AS SELECT customer_id, sum(total) AS total FROM invoices GROUP BY customer_id;
INSERT INTO countries (name) VALUES ('A'), ('B');
INSERT INTO customers (name, country_id) SELECT 'c' || n, n % 2 + 1 FROM generate_series(1, 20) n;
INSERT INTO invoices (customer_id, total) SELECT n % 20 + 1, n FROM generate_series(1, 60) n;
"""
SHARD = """
CREATE TABLE customers (id bigint PRIMARY KEY DEFAULT next_id(), name text NOT NULL, country_id bigint);
CREATE TABLE invoices (id bigint PRIMARY KEY DEFAULT next_id(),
  customer_id bigint NOT NULL REFERENCES customers, total numeric);
"""
COMMON = "CREATE TABLE common.countries (id bigint PRIMARY KEY, name text UNIQUE NOT NULL);\n"


@pytest.fixture
async def old(servers: Mapping[str, LocalServer], fresh_database: FreshDatabase) -> AsyncIterator[str]:
    """The address of a database that is to be adopted."""
    dsn = await fresh_database(servers["a"])
    conn = await open_connection(dsn, "old")
    await conn.execute(OLD)
    yield dsn
    await conn.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
    await conn.close()


def add_migrations(folder: Path) -> None:
    """The tables of the plan, in shards and, for lookups, on servers."""
    (folder / "shard" / "0002_adopted.sql").write_text(SHARD, encoding="utf-8")
    (folder / "server").mkdir()
    (folder / "server" / "0001_lookups.sql").write_text(COMMON, encoding="utf-8")


async def count(dsn: str, sql: str) -> int:
    conn = await open_connection(dsn, "test")
    try:
        return await fetch_value(conn, sql)
    finally:
        await conn.close()


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_database_is_widened_adopted_returned_and_adopted_for_good(
    site: Site, old: str, tmp_path: Path
) -> None:
    cli, plan = site.cli, tmp_path / "plan.toml"
    cli.environment["SHARDWRIGHT_ADOPT_FROM"] = old

    checked = await cli("widen", "customers.id", "invoices.id", "--check", "--database", old)
    assert "public.invoices.customer_id" in checked.stdout
    widened = await cli("widen", "customers.id", "invoices.id", "--database", old)
    assert "The columns are bigint. Tables were locked for " in widened.stderr
    assert "The old columns are gone." in (await cli("widen", "finish", "--database", old)).stderr

    proposed = await cli("adopt", "propose", "-o", str(plan))
    assert "2 tables follow customers, 1 are lookups, 0 stay" in proposed.stderr
    refused = await cli("adopt", "--plan", str(plan))
    assert refused.exit_code == 1
    assert "countries" in refused.stderr
    add_migrations(tmp_path / "migrations")
    assert (await cli("migrate")).exit_code == 0

    started = await cli("adopt", "--plan", str(plan))
    assert "82 rows were copied" in started.stderr
    assert "82 rows" in (await cli("adopt", "check")).stderr
    assert "0 differ" in (await cli("adopt", "shadow", "--samples", "5")).stderr
    switched = await cli("adopt", "switch")
    assert "the shards own the rows. Writers waited for" in switched.stderr
    back = await cli("adopt", "back")
    assert "the old database owns the rows. Writers waited for" in back.stderr
    assert (await cli("adopt", "switch")).exit_code == 0
    (shown,) = (await cli("adopt", "status", "--json")).json()
    assert (shown["step"], shown["owner"], shown["turn"]) == ("follow", "the shards", 3)
    assert "has ended; the shards own the rows." in (await cli("adopt", "finish")).stderr

    assert (
        await count(old, "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()") == 0
    )
    assert "Nothing is being adopted." in (await cli("adopt", "status")).stderr


async def test_what_is_wrong_is_said_before_anything_changes(site: Site, old: str, tmp_path: Path) -> None:
    site.cli.environment["SHARDWRIGHT_ADOPT_FROM"] = old
    (tmp_path / "plan.toml").write_text('tenant = "customers"\nlookup = []\n', encoding="utf-8")

    missing = await site.cli("adopt", "--plan", str(tmp_path / "none.toml"))
    wrong = await site.cli("adopt", "--plan", str(tmp_path / "plan.toml"))
    nothing = await site.cli("adopt", "switch")
    unknown = await site.cli("widen", "customers.name", "--check", "--database", old)

    assert (missing.exit_code, wrong.exit_code, nothing.exit_code, unknown.exit_code) == (1, 1, 1, 1)
    assert "none.toml cannot be read as a plan" in missing.stderr
    assert "a plan has no 'lookup'" in wrong.stderr
    assert "nothing is being adopted" in nothing.stderr
    assert "customers.name" in unknown.stderr
