"""Prometheus metrics of the router.

The hot path increments plain integers; a collector turns them into metrics when they are scraped. That costs a
statement almost nothing and works with any registry.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from shardwright.routing.connection_pool import ConnectionPool

if TYPE_CHECKING:
    from shardwright.routing.replica_set import ReplicaSet


class ServerCounts:
    """Counters of one server."""

    __slots__ = ("calls", "errors", "rows")

    def __init__(self) -> None:
        self.calls = 0
        self.rows = 0
        self.errors: Counter[str] = Counter()


class _Source(Protocol):
    everywhere_count: int

    @property
    def counts(self) -> dict[str, ServerCounts]: ...
    def pools(self) -> Iterable[tuple[str, str, ConnectionPool]]: ...
    def replica_sets(self) -> "Iterable[tuple[str, ReplicaSet]]": ...


class RouterCollector(Collector):
    """Exposes one router's counters to a registry."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    def register(self, registry: CollectorRegistry) -> None:
        """Add this router's metrics to a registry."""
        registry.register(self)

    def describe(self) -> list[Metric]:
        """No metrics in advance: the servers are known only when scraped."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The current values."""
        yield from self._collect_counts()
        yield from self._collect_pools()
        yield self._collect_recycled()
        yield from self._collect_replicas()
        everywhere = CounterMetricFamily("shardwright_everywhere", "Statements sent to every shard.")
        everywhere.add_metric([], self._source.everywhere_count)
        yield everywhere

    def _collect_recycled(self) -> Metric:
        recycled = CounterMetricFamily(
            "shardwright_recycled",
            "Connections replaced because their backends had grown too large.",
            labels=["server", "pool"],
        )
        for server, kind, pool in self._source.pools():
            recycled.add_metric([server, kind], pool.recycled)
        return recycled

    def _collect_replicas(self) -> Iterator[Metric]:
        reads = CounterMetricFamily(
            "shardwright_replica_reads", "Reads that replicas answered.", labels=["server"]
        )
        fallbacks = CounterMetricFamily(
            "shardwright_replica_fallbacks",
            "Reads that replicas were allowed to answer, and the primary did.",
            labels=["server"],
        )
        usable = GaugeMetricFamily(
            "shardwright_replicas_usable", "Replicas that are not left out now.", labels=["server"]
        )
        for server, replicas in self._source.replica_sets():
            reads.add_metric([server], replicas.reads)
            fallbacks.add_metric([server], replicas.fallbacks)
            usable.add_metric([server], sum(not each.is_left_out for each in replicas.replicas))
        yield from (reads, fallbacks, usable)

    def _collect_counts(self) -> Iterator[Metric]:
        calls = CounterMetricFamily("shardwright_calls", "Statements run.", labels=["server"])
        rows = CounterMetricFamily("shardwright_rows", "Rows returned.", labels=["server"])
        errors = CounterMetricFamily(
            "shardwright_errors", "Statements that failed.", labels=["server", "kind"]
        )
        for server, counts in self._source.counts.items():
            calls.add_metric([server], counts.calls)
            rows.add_metric([server], counts.rows)
            for kind, number in counts.errors.items():
                errors.add_metric([server, kind], number)
        yield from (calls, rows, errors)

    def _collect_pools(self) -> Iterator[Metric]:
        labels = ["server", "pool"]
        opened = GaugeMetricFamily("shardwright_connections", "Connections open.", labels=labels)
        idle = GaugeMetricFamily("shardwright_connections_idle", "Connections free.", labels=labels)
        waiting = GaugeMetricFamily("shardwright_waiting", "Callers waiting for a connection.", labels=labels)
        touched = GaugeMetricFamily(
            "shardwright_shards_touched", "The most shards one open connection has touched.", labels=labels
        )
        hot_bytes = GaugeMetricFamily(
            "shardwright_hot_bytes",
            "Estimated memory of the statements that one connection keeps prepared, at most.",
            labels=labels,
        )
        breaker_open = GaugeMetricFamily(
            "shardwright_breaker_open", "1 while the circuit breaker of the server is open.", labels=labels
        )
        for server, kind, pool in self._source.pools():
            opened.add_metric([server, kind], len(pool.connections))
            idle.add_metric([server, kind], pool.idle)
            waiting.add_metric([server, kind], pool.waiting)
            touched.add_metric(
                [server, kind], max((len(pooled.shards_touched) for pooled in pool.connections), default=0)
            )
            hot_bytes.add_metric(
                [server, kind], max((pooled.hot.size_bytes for pooled in pool.connections), default=0)
            )
            breaker_open.add_metric([server, kind], float(pool.breaker.is_open))
        yield from (opened, idle, waiting, touched, hot_bytes, breaker_open)
