"""Plans follow from people and costs, by a model that can be checked by hand."""

import msgspec
import pytest

from tintype.capacity import Assumptions, default_costs, make_plan

COSTS = default_costs()
GIVEN = Assumptions()
SIZES = (10_000, 1_000_000, 100_000_000, 2_000_000_000)


def test_rates_are_people_times_habits_at_the_peak() -> None:
    plan = make_plan(1_000_000, GIVEN, COSTS)

    # A sixth of a million, twenty reads each, over a day of 86,400 seconds, three times that at the peak.
    assert plan.rates["read"] + plan.rates["read_news"] == pytest.approx(1_000_000 / 6 * 20 * 3 / 86_400)
    assert plan.writes_per_s == pytest.approx(1_000_000 / 6 * (8 + 1 + 0.5 + 0.2 + 5) * 3 / 86_400)


def test_cores_are_rates_times_costs_with_room_left() -> None:
    only_likes = Assumptions(
        daily_share=1, reads=0, pages=0, files=0, comments=0, follows=0, uploads=0, messages=0, likes=1
    )
    plan = make_plan(86_400_000, only_likes, COSTS)

    # A thousand likes a second on average, three thousand at the peak, on cores that are half busy.
    assert plan.cores["web"] == pytest.approx(3_000 * COSTS.like.web / 1_000 / 0.5)
    assert plan.cores["postgres"] == pytest.approx(3_000 * COSTS.like.postgres / 1_000 / 0.5)


def test_needs_grow_with_people_and_walls_stay_where_they_are() -> None:
    small, large = (make_plan(users, GIVEN, COSTS) for users in SIZES[1:3])

    assert large.cores["web"] == pytest.approx(100 * small.cores["web"])
    assert large.redis_gb == pytest.approx(100 * small.redis_gb)
    assert [wall.name for wall in large.walls] == [wall.name for wall in small.walls]
    for one, other in zip(small.walls, large.walls, strict=True):
        assert one.users == pytest.approx(other.users, rel=0.01)


@pytest.mark.parametrize("users", SIZES)
def test_a_wall_is_passed_exactly_where_it_carries_fewer_people(users: int) -> None:
    plan = make_plan(users, GIVEN, COSTS)

    assert [wall.users for wall in plan.walls] == sorted(wall.users for wall in plan.walls)
    assert [wall.is_passed for wall in plan.walls] == [wall.users < users for wall in plan.walls]
    ahead = [wall for wall in plan.walls if wall.users >= users]
    assert plan.next_wall == (ahead[0] if ahead else None)


def test_whoever_may_become_a_cluster_begins_with_512_shards() -> None:
    assert make_plan(10_000, GIVEN, COSTS).shards == 64
    may_grow = make_plan(1_000_000, GIVEN, COSTS)
    assert (may_grow.machines.total, may_grow.shards) == (1, 512)
    assert make_plan(2_000_000_000, GIVEN, COSTS).shards == 8_192
    assert "512" in next(wall.advice for wall in may_grow.walls if wall.name == "one machine")


def test_the_shards_that_there_are_become_a_wall() -> None:
    plan = make_plan(100_000_000, GIVEN, COSTS, shards=64)

    wall = next(each for each in plan.walls if each.name == "logical shards")
    assert plan.shards == 64
    assert wall.is_passed
    assert wall.need == pytest.approx(plan.storage.rows_tb * 1_000 / 64)


def test_a_cluster_survives_the_loss_of_a_machine_of_each_kind() -> None:
    machines = make_plan(20_000_000, GIVEN, COSTS).machines

    assert machines.one == 0
    assert machines.web >= 2
    assert machines.worker >= 2
    assert machines.nats >= 3
    assert machines.standbys == machines.postgres + machines.redis


def test_files_that_no_cache_answers_are_the_first_wall() -> None:
    plan = make_plan(1_000_000, msgspec.structs.replace(GIVEN, edge_share=0, machine_gb=1_000), COSTS)
    cached = make_plan(1_000_000, msgspec.structs.replace(GIVEN, edge_share=1), COSTS)

    assert plan.rates["file"] == pytest.approx(10 * make_plan(1_000_000, GIVEN, COSTS).rates["file"])
    assert plan.origin_gbit_s == plan.egress_gbit_s
    assert next(wall for wall in plan.walls if wall.name == "files through Python").users < 1_000_000
    assert cached.origin_gbit_s == 0
    assert cached.rates["file"] == 0


def test_files_age_through_the_tiers() -> None:
    young = make_plan(1_000_000, msgspec.structs.replace(GIVEN, years=1), COSTS).storage
    old = make_plan(1_000_000, msgspec.structs.replace(GIVEN, years=3), COSTS).storage

    assert young.cold_tb == 0
    assert young.hot_tb + young.warm_tb == pytest.approx(young.files_tb_a_year)
    assert old.hot_tb == pytest.approx(young.hot_tb)
    assert old.cold_tb == pytest.approx(2 * 0.8 * old.files_tb_a_year)
    assert old.hot_tb + old.warm_tb + old.cold_tb == pytest.approx(3 * old.files_tb_a_year)


def test_nobody_at_all_needs_one_machine_and_meets_no_wall() -> None:
    idle = Assumptions(daily_share=0, weekly_share=0)
    plan = make_plan(1, idle, COSTS)

    assert plan.machines.total == 1
    assert not any(wall.is_passed for wall in plan.walls)
