"""Addresses in every form that the settings document are read and shown, without their passwords."""

from dataclasses import replace

import pytest

from tintype.stack import StackPlan, Verdict, check_existing_servers
from tintype.stack.address_forms import without_secrets
from tintype.stack.existing_servers import judge_postgres
from tintype.stack.postgres_answer import PostgresAnswer

NOBODY = "127.0.0.1:9"

FORMS = {
    "postgresql://tintype:hush@db1/tintype": "db1",
    "postgresql://tintype:hush@db1:5432,db2:5433/tintype": "db1:5432,db2:5433",
    "postgresql://tintype:hush@db1,db1-standby/tintype?sslmode=require": "db1,db1-standby",
    "postgresql://tintype:hush@[::1]:5432,[fe80::2]/tintype": "[::1]:5432,[fe80::2]",
    "postgresql://tintype:hush@db1:5432,[::1]/tintype": "db1:5432,[::1]",
    "postgresql://tintype:hush@%2Frun%2Fpostgresql/tintype": "/run/postgresql",
    "postgresql:///tintype?user=tintype&password=hush&host=/run/postgresql": "/run/postgresql",
    "postgresql:///tintype?password=hush&host=db1,db2&port=5432,5433": "db1:5432,db2:5433",
    "postgresql:///tintype": "localhost",
    "redis://:hush@cache:6379/0": "cache:6379",
    "rediss://user:hush@cache:6380": "cache:6380",
    "unix:///run/valkey.sock?password=hush": "/run/valkey.sock",
    "nats://tintype:hush@nats1:4222": "nats1:4222",
    "tls://tintype:hush@nats1:4222": "nats1:4222",
    "nats1:4222": "nats1:4222",
}


@pytest.mark.parametrize(("address", "shown"), FORMS.items())
def test_an_address_is_shown_by_its_hosts_alone(address: str, shown: str) -> None:
    assert without_secrets(address) == shown


async def test_of_several_hosts_those_that_are_down_are_warnings_while_another_serves(
    plan: StackPlan,
) -> None:
    login, _, rest = plan.postgres[0].rpartition("@")
    several = f"{login}@{NOBODY},{rest}"
    nats = (f"nats://tintype:hush@{NOBODY}", *plan.nats)

    found = await check_existing_servers(replace(plan, postgres=(several,), nats=nats))

    verdicts = {each.subject: each.verdict for each in found}
    assert verdicts[f"PostgreSQL {NOBODY}"] is Verdict.WARNING
    assert verdicts[f"NATS {NOBODY}"] is Verdict.WARNING
    assert Verdict.WRONG not in verdicts.values()
    assert "hush" not in str(found)


async def test_where_no_host_answers_each_is_wrong(plan: StackPlan) -> None:
    nobody = f"postgresql://tintype:hush@{NOBODY},127.0.0.1:10/tintype"

    found = await check_existing_servers(replace(plan, postgres=(nobody,), redis="", nats=()))

    assert [each.verdict for each in found] == [Verdict.WRONG] * 2
    assert "hush" not in str(found)


def test_hosts_without_exactly_one_primary_are_wrong() -> None:
    primary = PostgresAnswer(address="db1", major=18)
    standby = PostgresAnswer(address="db2", major=18, is_standby=True)
    away = PostgresAnswer(address="db3", problem="no answer in time")

    assert [each.verdict for each in judge_postgres("db1,db2", [primary, standby])] == [Verdict.OK] * 2
    only_standbys = judge_postgres("db2,db3", [standby, away])[-1]
    assert (only_standbys.verdict, only_standbys.subject) == (Verdict.WRONG, "PostgreSQL db2,db3")
    two = judge_postgres("db1,db1", [primary, primary])[-1]
    assert two.verdict is Verdict.WRONG
    assert "2 of its hosts are primaries" in two.detail
