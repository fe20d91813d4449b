"""The needs of a site by themselves, before machines are counted: cores, processes, connections, bytes."""

import math
from dataclasses import dataclass

from tintype.capacity import demand, storage
from tintype.capacity.limits import (
    CONNECTIONS_PER_PROCESS,
    LIVE_PER_PROCESS,
    ONE_MACHINE_REDIS_SHARE,
    SERVER_TB,
)
from tintype.capacity.models import Assumptions, Costs, Storage


@dataclass(frozen=True, kw_only=True)
class Sizing:
    """Needs at the peak. All but the numbers of processes grow with the number of accounts."""

    users: int
    rates: dict[str, float]
    cores: dict[str, float]
    file_cores: float
    """Of the web processes, for files alone."""
    events_per_s: float
    live_connections: int
    redis_gb: float
    storage: Storage
    egress_gbit_s: float

    @property
    def all_cores(self) -> float:
        """Cores of all processes together."""
        return sum(self.cores.values())

    @property
    def web_processes(self) -> int:
        """A web process keeps one core busy, and holds so many live connections."""
        return max(1, math.ceil(self._web))

    @property
    def worker_processes(self) -> int:
        """A worker keeps one core busy."""
        return max(1, math.ceil(self.cores["worker"]))

    @property
    def connections(self) -> float:
        """PostgreSQL backends on each server: every process is connected to every server."""
        return (self._web + self.cores["worker"]) * CONNECTIONS_PER_PROCESS

    def fits_one_machine(self, given: Assumptions) -> bool:
        """Whether one machine carries all of it; Redis may take a quarter of the memory."""
        return (
            self.all_cores <= given.machine_cores
            and self.redis_gb <= given.machine_gb * ONE_MACHINE_REDIS_SHARE
            and self.storage.rows_tb <= SERVER_TB
        )

    @property
    def _web(self) -> float:
        return max(self.cores["web"], self.live_connections / LIVE_PER_PROCESS)


def size(users: int, given: Assumptions, costs: Costs) -> Sizing:
    """The needs of so many accounts."""
    rates = demand.peak_rates(users, given)
    return Sizing(
        users=users,
        rates=rates,
        cores=demand.needed_cores(rates, costs, given.utilisation),
        file_cores=rates["file"] * costs.file.web / 1_000 / given.utilisation,
        events_per_s=demand.events_per_s(rates),
        live_connections=round(users * given.daily_share * given.online_share),
        redis_gb=storage.redis_gb(users, given, costs),
        storage=storage.stored(users, given, costs),
        egress_gbit_s=storage.egress_gbit_s(users, given),
    )
