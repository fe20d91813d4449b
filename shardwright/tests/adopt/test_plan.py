"""Plans are proposed from foreign keys, written as TOML, read back, and refused with the reason."""

from pathlib import Path

import pytest

from shardwright.adopt import AdoptRefused, Plan, load_plan, parse_plan, propose
from shardwright.adopt.plan import write_plan
from shardwright.adopt.snapshots import Snapshot
from shardwright.topology import open_connection

PLAN = Plan(
    tenant="auth_user",
    follow={
        "auth_user_groups": ("user_id",),
        "shop_linenote": ("line_id",),
        "shop_order": ("customer_id",),
        "shop_orderline": ("order_id",),
        "shop_review": ("author_id",),
    },
    lookups=("auth_group", "shop_product"),
    stay=("auth_permission", "django_content_type", "django_migrations", "django_session"),
)


async def test_a_plan_is_proposed_by_following_foreign_keys(old: str) -> None:
    found = await propose(old)

    assert found.plan == PLAN
    crossing = {str(each.foreign_key): each.rows for each in found.crossings}
    assert crossing.keys() == {
        "shop_order (gift_for_id) → auth_user (id)",
        "shop_review (order_id) → shop_order (id)",
    }
    assert all(rows and rows > 100 for rows in crossing.values())


async def test_the_tenant_can_be_named(old: str) -> None:
    found = await propose(old, tenant="shop_order", count=False)

    assert found.plan.followers == ["shop_order", "shop_linenote", "shop_orderline", "shop_review"]
    with pytest.raises(AdoptRefused, match="has no table nobody"):
        await propose(old, tenant="nobody")


async def test_a_proposal_is_a_file_that_can_be_read_back(old: str, tmp_path: Path) -> None:
    found = await propose(old)
    path = tmp_path / "plan.toml"
    path.write_text(found.to_toml(), encoding="utf-8")

    assert load_plan(path) == PLAN
    assert "Ways out" in path.read_text(encoding="utf-8")
    assert "rows without it go to shard 0" in path.read_text(encoding="utf-8")


async def test_narrow_keys_are_named_with_how_to_widen_them(old: str) -> None:
    conn = await open_connection(old, "old")
    await conn.execute(
        "CREATE TABLE shop_note (id serial PRIMARY KEY, user_id bigint NOT NULL REFERENCES auth_user)"
    )
    await conn.close()

    assert "shardwright widen shop_note.id --database" in (await propose(old, count=False)).to_toml()


def test_odd_names_survive_the_file(tmp_path: Path) -> None:
    plan = Plan(
        tenant='a"b\\c', follow={"ü.x": ("d", "e")}, lookups=("tab\tbed",), shadow=("SELECT ':tenant'",)
    )
    path = tmp_path / "plan.toml"
    path.write_text(write_plan(plan, {}, ["a\nremark"]), encoding="utf-8")

    assert load_plan(path) == plan


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({}, "names no tenant"),
        ({"tenant": "a", "tables": []}, "has no 'tables'"),
        ({"tenant": "a", "placement": "x"}, "write one of 'tenant', 'shard 0'"),
        ({"tenant": "a", "lookups": "b"}, "lookups is not a list"),
        ({"tenant": "a", "lookups": ["a"]}, "two places for a"),
        ({"tenant": "a", "follow": {"b": []}}, "b follows no column"),
    ],
)
def test_what_is_no_plan_is_refused(content: dict[str, object], reason: str) -> None:
    with pytest.raises(AdoptRefused, match=reason):
        parse_plan(content)


def test_a_snapshot_knows_its_transactions_across_the_end_of_32_bits() -> None:
    snapshot = Snapshot.parse("4294967290:4294967300:4294967295,4294967298")

    assert snapshot.contains(4294967289)
    assert snapshot.contains(4294967294)
    assert not snapshot.contains(4294967295)
    assert snapshot.contains(0)
    assert not snapshot.contains(2)
    assert not snapshot.contains(4)
