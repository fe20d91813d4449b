"""Where one of a kind ends, and how much of each is sensible; each number with its reason."""

SMALL_SHARDS = 64
"""The default of `shard_count`: for one machine."""
CLUSTER_SHARDS = 512
"""Where a cluster begins: usernames, addresses, tags and words are found by a hash over the shards of the first day,
and these lookups never split."""
GROWTH = 10
"""An installation that would be a cluster with so many times the people begins with a cluster's shards."""
MAX_SHARDS = 8_192
"""13 bits of an id."""
SHARDS_PER_SERVER = 16
"""So that load can be spread evenly by moving whole shards."""
SHARD_GB = 20.0
"""A shard of this size moves to another server in minutes."""
LARGE_SHARD_GB = 200.0
"""A shard of this size takes hours to move."""
SERVER_TB = 4.0
"""Rows on one PostgreSQL server: more take too long to copy for a new standby."""
BACKENDS = 1_000.0
"""PostgreSQL backends on one server: about 30 MB each, and each new snapshot looks at all of them."""
CONNECTIONS_PER_PROCESS = 1.4 * 4 + 5
"""Of a web or worker process to each PostgreSQL server, with `postgres_connections` as it is (docs/operating.md)."""
LIVE_PER_PROCESS = 2_048
"""Live connections of a web process: half of the setting `connections`."""
EMBEDDED_REDIS_GB = 4.0
"""What the embedded Valkey keeps at most."""
REDIS_SHARE = 0.75
"""Of a machine's memory; the rest is for copies on write and buffers."""
ONE_MACHINE_REDIS_SHARE = 0.25
"""Of the memory of a machine that runs everything."""
REDIS_CORES = 1.0
"""A node runs commands in one thread."""
STREAM_EVENTS_PER_S = 20_000.0
"""What one JetStream stream carried with its handlers, with one copy, on one machine."""
UPLINK_GBIT_S = 100.0
"""Of one place."""
MIN_MACHINES = 2
"""Of web and worker in a cluster: one may be away."""
NATS_MACHINES = 3
"""A stream has three copies, and two must answer."""
