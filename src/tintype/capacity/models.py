"""What a plan is made from, assumptions and costs, and what it says."""

from typing import Annotated

import msgspec

PerDay = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
AboveZero = Annotated[float, msgspec.Meta(gt=0)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0)]


class Assumptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How people use the site and what machines there are; numbers per person are per day of somebody who comes."""

    daily_share: Share = 1 / 6
    """Share of accounts that come on a day."""
    weekly_share: Share = 1 / 3
    """Share of accounts that come within `feed_idle_days`: so many timelines are kept in Redis."""
    reads: PerDay = 20
    """Feed reads."""
    news_share: Share = 0.5
    """Share of feed reads that find something new."""
    pages: PerDay = 20
    """Other reads: profiles, posts, comments, notifications, searches; each costs what a profile costs."""
    files: PerDay = 600
    """Photos and videos that the browser does not have yet."""
    file_kb: AboveZero = 100
    """Size of one of them."""
    edge_share: Share = 0.9
    """Share of files that a cache or CDN in front answers without asking Tintype."""
    likes: PerDay = 8
    comments: PerDay = 1
    follows: PerDay = 0.5
    uploads: PerDay = 0.2
    """Photos that are uploaded and posted."""
    upload_mb: AboveZero = 5
    """Size of an original."""
    followers: PerDay = 150
    """Followers whom a post reaches, on average over posts; those of celebrities are not pushed to."""
    messages: PerDay = 5
    """Direct messages sent."""
    online_share: Share = 0.1
    """Share of a day's people who hold a live connection at the peak."""
    peak: AboveZero = 3
    """Load in the busiest hour over the average of the day."""
    utilisation: Annotated[float, msgspec.Meta(gt=0, le=1)] = 0.5
    """How busy a core may be at the peak."""
    years: AboveZero = 1
    """For how long rows and files have been piling up."""
    cold_share: Share = 0.8
    """Share of files older than a year that nobody has read for 90 days."""
    machine_cores: Annotated[int, msgspec.Meta(ge=1)] = 16
    machine_gb: AboveZero = 64
    standbys: Annotated[int, msgspec.Meta(ge=0)] = 1
    """Standbys of each PostgreSQL server and Redis node, once there are several machines."""


class Cost(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """CPU-ms of each kind of process for one operation and all that follows from it."""

    web: Milliseconds = 0.0
    worker: Milliseconds = 0.0
    postgres: Milliseconds = 0.0
    redis: Milliseconds = 0.0
    nats: Milliseconds = 0.0


class RowBytes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bytes in PostgreSQL for one of each, indexes, mirrors and notifications included."""

    account: AboveZero
    like: AboveZero
    comment: AboveZero
    follow: AboveZero
    post: AboveZero
    message: AboveZero


class RedisBytes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bytes in Redis: of each reader of the week, and of each post of the last ten days."""

    reader: AboveZero
    post: AboveZero


class Costs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What each operation costs."""

    read: Cost
    """A feed read with nothing new."""
    read_news: Cost
    """A feed read with something new."""
    page: Cost
    file: Cost
    """A file that is served by the web process."""
    like: Cost
    comment: Cost
    follow: Cost
    post: Cost
    fan_out: Cost
    """One follower's timeline of one post."""
    upload: Cost
    message: Cost
    row_bytes: RowBytes
    redis_bytes: RedisBytes
    renditions_mb: AboveZero
    """What is stored of an upload beside its original."""


class Machines(msgspec.Struct, frozen=True, kw_only=True):
    """How many machines of each kind; where one is enough for everything, it is the `one`."""

    one: int
    web: int
    worker: int
    postgres: int
    """Primaries; each has its standbys beside."""
    redis: int
    nats: int
    standbys: int
    """Of PostgreSQL and Redis, in all."""

    @property
    def total(self) -> int:
        """Machines of every kind."""
        return self.one + self.web + self.worker + self.postgres + self.redis + self.nats + self.standbys


class Storage(msgspec.Struct, frozen=True, kw_only=True):
    """Terabytes of files by tier, as the default settings move them, and of rows."""

    hot_tb: float
    warm_tb: float
    cold_tb: float
    rows_tb: float
    files_tb_a_year: float


class Wall(msgspec.Struct, frozen=True, kw_only=True):
    """Something that does not grow by adding more of the same: where it ends, and what to do then."""

    name: str
    need: float
    limit: float
    unit: str
    users: int
    """How many accounts it carries, under the same assumptions."""
    is_passed: bool
    advice: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a site of this size needs."""

    users: int
    daily: int
    rates: dict[str, float]
    """Operations a second at the peak."""
    writes_per_s: float
    events_per_s: float
    cores: dict[str, float]
    """Cores by kind of process, with room as `utilisation` says."""
    machines: Machines
    web_processes: int
    worker_processes: int
    connections_per_server: int
    """PostgreSQL backends on each server, without a pooler."""
    shards: int
    redis_gb: float
    live_connections: int
    storage: Storage
    egress_gbit_s: float
    origin_gbit_s: float
    """What of it leaves the web machines: the rest comes from the cache in front."""
    walls: tuple[Wall, ...]
    """In the order in which a growing site meets them."""

    @property
    def next_wall(self) -> Wall | None:
        """The first that is still ahead."""
        return next((wall for wall in self.walls if not wall.is_passed), None)
