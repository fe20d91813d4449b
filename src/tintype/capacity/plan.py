"""Makes a plan: machines and logical shards from what a site needs, and the walls in its way."""

import math

from tintype.capacity import demand
from tintype.capacity.limits import (
    CLUSTER_SHARDS,
    CONNECTIONS_PER_PROCESS,
    GROWTH,
    MAX_SHARDS,
    MIN_MACHINES,
    NATS_MACHINES,
    REDIS_CORES,
    REDIS_SHARE,
    SERVER_TB,
    SHARD_GB,
    SHARDS_PER_SERVER,
    SMALL_SHARDS,
)
from tintype.capacity.models import Assumptions, Costs, Machines, Plan
from tintype.capacity.sizing import Sizing, size
from tintype.capacity.walls import find_walls


def make_plan(users: int, given: Assumptions, costs: Costs, *, shards: int = 0) -> Plan:
    """What this many accounts need; with `shards`, for an installation that was created with so many."""
    sizing = size(users, given, costs)
    machines = _machines(sizing, given)
    processes = sizing.web_processes + sizing.worker_processes
    return Plan(
        users=users,
        daily=round(users * given.daily_share),
        rates=sizing.rates,
        writes_per_s=demand.writes_per_s(sizing.rates),
        events_per_s=sizing.events_per_s,
        cores=sizing.cores,
        machines=machines,
        web_processes=sizing.web_processes,
        worker_processes=sizing.worker_processes,
        connections_per_server=math.ceil(processes * CONNECTIONS_PER_PROCESS),
        shards=shards or _shards(machines, sizing, size(users * GROWTH, given, costs), given),
        redis_gb=sizing.redis_gb,
        live_connections=sizing.live_connections,
        storage=sizing.storage,
        egress_gbit_s=sizing.egress_gbit_s,
        origin_gbit_s=sizing.egress_gbit_s * (1 - given.edge_share),
        walls=find_walls(sizing, given, shards=shards),
    )


def _machines(sizing: Sizing, given: Assumptions) -> Machines:
    if sizing.fits_one_machine(given):
        return Machines(one=1, web=0, worker=0, postgres=0, redis=0, nats=0, standbys=0)
    cores = {part: math.ceil(each / given.machine_cores) for part, each in sizing.cores.items()}
    databases = max(1, cores["postgres"], math.ceil(sizing.storage.rows_tb / SERVER_TB))
    caches = max(
        1,
        math.ceil(sizing.cores["redis"] / REDIS_CORES),
        math.ceil(sizing.redis_gb / (given.machine_gb * REDIS_SHARE)),
    )
    return Machines(
        one=0,
        web=max(MIN_MACHINES, cores["web"]),
        worker=max(MIN_MACHINES, cores["worker"]),
        postgres=databases,
        redis=caches,
        nats=max(NATS_MACHINES, cores["nats"]),
        standbys=(databases + caches) * given.standbys,
    )


def _shards(machines: Machines, sizing: Sizing, grown: Sizing, given: Assumptions) -> int:
    """Logical shards to begin with: a power of two that leaves room to grow, to spread and to move them."""
    if grown.fits_one_machine(given):
        return SMALL_SHARDS
    rows_gb = sizing.storage.rows_tb * 1_000
    wanted = max(CLUSTER_SHARDS, machines.postgres * SHARDS_PER_SERVER, rows_gb / SHARD_GB)
    return min(MAX_SHARDS, 2 ** math.ceil(math.log2(wanted)))
