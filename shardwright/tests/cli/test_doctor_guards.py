"""What doctor finds out about guards: unguarded tables and partitions, second writable copies, old servers."""

from typing import Any

import asyncpg
import pytest

from shardwright.cli import doctor_checks
from shardwright.topology import (
    MIN_POSTGRESQL,
    Directory,
    creation_sql,
    open_connection,
    postgres_version,
    set_owned,
)
from shardwright.topology.guard_events import EVENT_SCHEMA, EVENT_TRIGGER

Site = Any  # the fixture's type lives in conftest, which cannot be imported
NO_EVENTS = f"DROP EVENT TRIGGER {EVENT_TRIGGER}; DROP SCHEMA {EVENT_SCHEMA} CASCADE;"


async def owned_by(site: Site, server: str) -> list[int]:
    directory = await Directory.open(site.servers["a"])
    numbers = (await directory.load()).shards_on(server)
    await directory.close()
    return numbers


async def copy_sql(site: Site, number: int) -> str:
    """The statements that create a shard once more, accepting writes, as a copy by hand would."""
    directory = await Directory.open(site.servers["a"])
    layout = (await directory.load()).layout
    await directory.close()
    return creation_sql(number, layout)


async def findings(
    site: Site, *arguments: str, levels: tuple[str, ...] = ("warning", "failure")
) -> dict[str, list[str]]:
    """What doctor finds besides the missing fsync of test servers, by check."""
    ran = await site.cli("doctor", "--json", *arguments)
    found: dict[str, list[str]] = {}
    for each in ran.json()["findings"]:
        if each["level"] in levels and each["check"] not in {"settings", "drift"}:
            found.setdefault(each["check"], []).append(f"{each['what']} -> {each['advice']}")
    return found


@pytest.mark.slow
async def test_tables_and_partitions_without_a_guard_are_found_and_guarded(
    site: Site, a: asyncpg.Connection
) -> None:
    number = (await owned_by(site, "a"))[0]
    schema = f"s{number:04d}"
    await a.execute(f"""
        {NO_EVENTS}
        CREATE TABLE {schema}.by_hand (id bigint);
        CREATE TABLE {schema}.days (day date) PARTITION BY RANGE (day);
        CREATE TABLE {schema}.days_late PARTITION OF {schema}.days DEFAULT PARTITION BY RANGE (day);
        CREATE TABLE public.days_very_late PARTITION OF {schema}.days_late DEFAULT;
        ALTER TABLE {schema}.posts DISABLE TRIGGER shardwright_guard;
    """)
    await set_owned(a, number, owned=False)  # a copy that is not the owner's matters as much
    (found,) = (each for each in (await findings(site))["guards"] if "have no guard" in each)
    assert f"5 tables of {schema} on a have no guard" in found
    assert f"{schema}.by_hand" in found
    assert f"{schema}.days_late (a partition)" in found
    assert "doctor --fix" in found
    assert "no event trigger" in str((await findings(site, levels=("note",)))["guards"])

    ran = await site.cli("doctor", "--fix")
    assert "public.days_very_late on a is guarded now" in ran.stdout
    assert "a guards what plain SQL creates from now on" in ran.stdout
    assert not [each for each in (await findings(site))["guards"] if "have no guard" in each]
    for table in ("by_hand", "days", "days_late", "posts"):
        with pytest.raises(asyncpg.PostgresError, match="not owned"):
            await a.execute(f"DELETE FROM {schema}.{table}")
    with pytest.raises(asyncpg.PostgresError, match="not owned"):
        await a.execute("DELETE FROM public.days_very_late")


@pytest.mark.slow
async def test_a_second_writable_copy_is_found(site: Site, a: asyncpg.Connection) -> None:
    number = (await owned_by(site, "b"))[0]
    schema = f"s{number:04d}"
    await a.execute(await copy_sql(site, number))
    (found,) = (await findings(site))["copies"]
    assert f"a has a second writable copy of {schema}, which b owns according to the map" in found
    assert f"set_owned(connection, {number}, owned=False) on a" in found

    await set_owned(a, number, owned=False)
    assert "copies" not in await findings(site)


async def test_a_move_that_stopped_before_the_map_changed_is_found(site: Site, a: asyncpg.Connection) -> None:
    number = (await owned_by(site, "b"))[0]
    schema = f"s{number:04d}"
    await a.execute(await copy_sql(site, number))
    b = await open_connection(site.servers["b"], "b")
    await set_owned(b, number, owned=False)
    await b.close()

    (found,) = (await findings(site))["copies"]
    assert f"a accepts writes to {schema}, and b, which owns it according to the map, refuses them" in found
    assert "run it again" in found


async def test_a_shard_that_no_map_has_is_found(site: Site, a: asyncpg.Connection) -> None:
    await a.execute("CREATE SCHEMA s0777")

    (found,) = (await findings(site))["copies"]
    assert "a accepts writes to s0777, which is not in the map" in found


async def test_an_old_postgresql_is_found_and_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """No old server is at hand, so the limit is raised above the ones that are."""
    assert MIN_POSTGRESQL == 15
    monkeypatch.setattr(doctor_checks, "MIN_POSTGRESQL", 99)
    monkeypatch.setattr(postgres_version, "MIN_POSTGRESQL", 99)
    ran = await site.cli("doctor")
    assert "upgrade it to 99 or later" in ran.stdout

    refused = await site.cli("init", "-s", f"b={site.servers['b']}")
    assert refused.exit_code == 1
    assert "upgrade it to 99 or later" in refused.stderr


@pytest.mark.slow
async def test_status_says_where_plain_sql_is_not_guarded(site: Site, a: asyncpg.Connection) -> None:
    assert "get no guard" not in (await site.cli("status")).stdout
    await a.execute(NO_EVENTS)
    ran = await site.cli("status")
    told: Any = (await site.cli("status", "--json")).json()

    assert ran.exit_code == 0
    assert "tables made by plain SQL get no guard on a" in ran.stdout
    assert [each["guards_plain_sql"] for each in told["servers"]] == [False, True]
