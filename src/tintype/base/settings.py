"""What an operator may choose, read once, from one place.

Every setting has a default that suits one machine. `tintype.toml` overrides the default, the environment
(`TINTYPE_` and the name in capitals) overrides the file. `Origins` remembers where each value came from, so
that `tintype config` can answer the question people really ask: who set this?
"""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from tintype.base.errors import SettingsInvalid
from tintype.base.rate_limits import LimitOverrides

PREFIX = "TINTYPE_"
FILE_NAME = "tintype.toml"
PACKED_WEB_APP = Path(__file__).resolve().parent.parent / "web_dist"

_BETWEEN_ADDRESSES = re.compile(r"[\s,]*\s[\s,]*|,+(?=[^,@/\s]*://)")
"""White space, or commas before the scheme of the next address (`postgresql://`, `pg1=postgresql://`)."""

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
OptionalPort = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Registration = Literal["open", "invitation", "closed"]
Secret = Annotated[str, msgspec.Meta(extra={"is_secret": True})]
"""A value that is never shown: passwords, keys, addresses that may hold a password."""


LISTS = frozenset(
    {
        "postgres",
        "postgres_migrator",
        "postgres_admin",
        "postgres_replicas",
        "nats",
        "trusted_proxies",
        "experiments",
        "rate_limits",
    }
)


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The effective choices. Names are promises: they are the keys of `tintype.toml`."""

    home: Path = Path(".tintype")
    """Data directory: data of the embedded servers, logs, secrets and state."""
    http_host: str = "127.0.0.1"
    """Address the web server listens on."""
    http_port: Port = 8080
    """Port the web server listens on."""
    public_url: str = ""
    """Address that people type, when a proxy stands in front. Empty: `http://host:port`. Links in mails use it,
    passkeys are bound to it, and requests that pages of other sites make are recognised by it.
    """
    http_idle_s: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = 20
    """How long a connection may take to send the head of a request, and may stay open without one, in seconds. A proxy
    in front must drop idle connections earlier.
    """
    http_stall_s: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = 20
    """How long the body of a request may pause, and a client may read nothing of a response, in seconds. After that
    both must go on at a kilobyte a second or faster.
    """
    connections_per_address: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 256
    """Connections that one address (an IPv6 network of 64 bits) may have per web process. Of more, those are ended that
    have waited longest for their client. Behind a proxy: requests in progress per forwarded address.
    """
    connections: Annotated[int, msgspec.Meta(ge=16, le=1_000_000)] = 4_096
    """Connections that a web process accepts in all. Open files must suffice (`ulimit -n`)."""
    metrics_host: str = "127.0.0.1"
    """Address that metrics are served on. They tell much about a site: keep them away from the public."""
    metrics_port: OptionalPort = 9464
    """Port that metrics are served on. Zero: nowhere. Where it is taken and was not set, `tintype up` uses the next
    free one and says so.
    """
    security_contact: str = ""
    """Contact for reports of vulnerabilities in `/.well-known/security.txt`, as a `mailto:` or `https:` address. Empty:
    `push_contact`, else the sender of mails, else the site itself.
    """
    web_workers: Annotated[int, msgspec.Meta(ge=0, le=256)] = 0
    """Number of web processes. Zero: as many as suit the machine's cores and memory (`tintype doctor` says how many);
    `tintype web` by itself runs one.
    """
    worker_count: Annotated[int, msgspec.Meta(ge=0, le=256)] = 0
    """Number of worker processes, which run jobs and schedules. Zero: as many as suit the machine."""
    postgres: tuple[Secret, ...] = ()
    """DSNs of your own PostgreSQL servers, as a role that reads and writes rows and needs no DDL (`tintype roles`
    creates it). Empty: embedded ones are started. An empty DSN holds the place of a server that was removed.
    """
    postgres_migrator: tuple[Secret, ...] = ()
    """DSNs of the same databases, in the same order, as the role that `tintype migrate` and `tintype shards` use. Only
    these commands need it. Empty: those of `postgres`.
    """
    postgres_admin: tuple[Secret, ...] = ()
    """DSNs of the same databases as a superuser, for `tintype roles`, which creates the other two roles, and for moves
    of shards. Best given in the environment of these commands, and of `tintype up`, which then ends moves in time.
    Empty: those of `postgres`.
    """
    postgres_servers: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    """Number of embedded PostgreSQL servers."""
    postgres_replicas: tuple[Secret, ...] = ()
    """Streaming replicas of your own PostgreSQL servers, as `pg1=DSN`: `pg1` is the first server of `postgres`, `pg2`
    the second. `tintype migrate` enters them into the shard map. Lists of posts on profiles, of comments and of search
    results are then read there.
    """
    postgres_replica_count: Annotated[int, msgspec.Meta(ge=0, le=8)] = 0
    """Number of replicas that are started for each embedded PostgreSQL server (`tintype up --replicas`)."""
    postgres_replica_wal_mb: Annotated[int, msgspec.Meta(ge=64, le=1_000_000)] = 4_096
    """How much WAL an embedded server keeps for a replica, or for a move of shards, that is behind, in MB. A replica
    further behind is made anew.
    """
    postgres_connections: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 4
    """Connections that each web and worker process holds to each PostgreSQL server, under load, beside those of
    `postgres_spare_connections` and `postgres_gather_connections`.
    """
    postgres_spare_connections: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 0
    """Connections beyond `postgres_connections` that each process opens to each server while shards wait for a busy
    one. Zero: a quarter of `postgres_connections`, at least one.
    """
    postgres_gather_connections: Annotated[int, msgspec.Meta(ge=0, le=1_000)] = 0
    """Connections of each process to each server for reads of many shards. Zero: an eighth of `postgres_connections`,
    at least one.
    """
    postgres_backend_mb: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 64
    """A connection is replaced once its PostgreSQL backend has grown beyond this, in MB. Zero: never for its size."""
    directory: Secret = ""
    """DSN of the database that holds the shard map. Empty: the first PostgreSQL server."""
    directory_migrator: Secret = ""
    """DSN of that database as the role of `postgres_migrator`. Empty: the same as `directory`."""
    shard_count: Annotated[int, msgspec.Meta(ge=1, le=8192)] = 64
    """Number of logical shards, chosen once when the installation is created. A cluster should begin with 512 or
    more.
    """
    redis: Secret = ""
    """URL of your own Redis or Valkey server. Empty: an embedded one is started."""
    nats: tuple[Secret, ...] = ()
    """URLs of your own NATS servers with JetStream. Empty: an embedded one is started."""
    realtime: bool | Literal["auto"] = "auto"
    """Whether devices may hold a live connection: MQTT over WebSocket at `/mqtt`, for messages and notifications.
    `auto`: with an embedded NATS server. Your own servers need the auth callout first (docs/operating.md), then `true`.
    """
    nats_system: Secret = ""
    """URL of your own NATS servers as a user of their system account, for live connections. Embedded: set by itself."""
    mqtt_upstream: str = ""
    """`host:port` where your own NATS servers listen for MQTT; `/mqtt` is forwarded there. Embedded: set by itself."""
    mqtt_port: OptionalPort = 0
    """Port of the embedded NATS server for MQTT without WebSocket. Zero: other machines cannot reach it. With
    `realtime` only.
    """
    mqtt_ws_port: OptionalPort = 0
    """Port of the embedded NATS server for MQTT over WebSocket past the web process, for a proxy of yours. Zero: it
    does not listen for it. With `realtime` only.
    """
    media_store: Secret = ""
    """Where media files are stored: a directory or an object store URL (`s3://bucket/prefix`). Empty: `media` in
    the data directory.
    """
    media_store_warm: Secret = ""
    """Store of the warm tier. Empty: the same store as the hot tier."""
    media_store_cold: Secret = ""
    """Store of the cold tier. Empty: the same store as the warm tier."""
    media_s3_endpoint: str = ""
    """Address of an S3-compatible service other than Amazon's. Plain HTTP is allowed."""
    media_s3_region: str = "us-east-1"
    """Region of the S3 service."""
    media_s3_access_key: Secret = ""
    """Access key of the S3 service."""
    media_s3_secret_key: Secret = ""
    """Secret key of the S3 service."""
    media_work: str = ""
    """Directory for files while they are processed. Empty: `work` in the data directory."""
    media_sandbox_helpers: Annotated[int, msgspec.Meta(ge=0, le=64)] = 2
    """How many isolated processes each web and worker process keeps waiting for a photo or video, from the first one
    on, so that nobody waits for one to start. Each takes about 12 MB.
    """
    media_sandbox_walls: Literal["all", "essential", "none"] = "essential"
    """Which walls of the media sandbox must stand (`tintype media walls` lists them): without one of them the stack
    does not start, and no photo or video is processed. `none` processes them with what there is.
    """
    media_photo_bytes: Annotated[int, msgspec.Meta(ge=1)] = 30 * 1024 * 1024
    """Largest photo that is accepted, in bytes."""
    media_video_bytes: Annotated[int, msgspec.Meta(ge=1)] = 100 * 1024 * 1024
    """Largest video that is accepted, in bytes."""
    storage_quota_mb: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] = 20_480
    """How much each person may store, in MiB: originals and everything made from them. Zero: as much as they like.
    `tintype accounts quota` changes it for one account.
    """
    import_mb: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] = 20_480
    """How large the archives of one import may be together, in MiB. They do not count towards the quota and are deleted
    when the import has ended. Zero: nobody imports in the app; `tintype import` works all the same.
    """
    videos_waiting: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 20
    """How many videos of one person may wait for their conversion at a time."""
    video_minutes_per_day: Annotated[int, msgspec.Meta(ge=0, le=100_000)] = 240
    """How many minutes of video are converted per person and day (UTC). Zero: any number."""
    media_url_life_s: Annotated[int, msgspec.Meta(ge=60, le=7 * 86_400)] = 3_600
    """How long a signed URL of a private account's file works, in seconds."""
    media_convert_after_reads: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 8
    """After how many reads of a size within a week it is converted to AVIF or WebP, in the background. 0: never."""
    media_browser_cache_s: Annotated[int, msgspec.Meta(ge=0, le=31_536_000)] = 86_400
    """How long a browser may show a public photo or video without asking again, in seconds."""
    media_edge_cache_s: Annotated[int, msgspec.Meta(ge=0, le=31_536_000)] = 60
    """How long a CDN or caching proxy may serve a public file without asking again (`s-maxage`), in seconds: for so
    long it may serve one that was taken away. Raise it only together with `media_purge_url`.
    """
    media_purge_url: Annotated[str, msgspec.Meta(pattern="^(https?://.+)?$", max_length=2_000)] = ""
    """Where a CDN is told to drop files that were taken away: `POST {"tags": [...]}`. Empty: nobody is told."""
    media_purge_token: Secret = ""
    """Sent as a bearer token with each purge."""
    media_warm_after_days: Annotated[int, msgspec.Meta(ge=0)] = 7
    """Age at which media move to the warm tier, in days."""
    media_cold_after_days: Annotated[int, msgspec.Meta(ge=0)] = 365
    """Age at which media may move to the cold tier, in days."""
    media_cold_idle_days: Annotated[int, msgspec.Meta(ge=0, le=90)] = 90
    """Media move to the cold tier only when nobody has read them for this many days."""
    media_hot_reads_per_day: Annotated[int, msgspec.Meta(ge=1)] = 10
    """Media read more often than this stay in the hot tier, or return to it, whatever their age."""
    namespace: Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]{0,30}$")] = "tintype"
    """Prefix of Redis keys and NATS subjects, so that several installations can share servers."""
    web_dist: Path = PACKED_WEB_APP
    """Directory of the built web app."""
    log_format: Literal["text", "json"] = "text"
    """Log lines as `text` for people or `json` for machines."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level that is logged."""
    secret_key: Secret = ""
    """Key that signs cursors and URLs. Empty: generated at the first start and stored in the data directory."""
    guests_may_read: bool = True
    """Whether people who are not signed in may read public profiles and posts."""
    registration: Registration = "open"
    """Who may create an account: everybody, whoever has an invitation link of a member, or nobody. The first account of
    an empty site needs no invitation.
    """
    search_engines: Literal["none", "pages", "sitemap"] = "pages"
    """What search engines may do with public profiles, posts, hashtags and places: `none` tells them to list nothing,
    `pages` lets them list what they find, `sitemap` also gives them a list of it (`/sitemap.xml`). Previews of links
    are made in any case. People can keep their account out of all of it.
    """
    demo_offered: bool = True
    """Whether the only account of an empty site is offered the demo community."""
    posts_per_day: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 25
    """Limit of posts per person and 24 hours."""
    stories_per_day: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 100
    """Limit of stories per person and 24 hours."""
    keep_deleted_posts_days: Annotated[int, msgspec.Meta(ge=0, le=3_650)] = 30
    """How long a deleted post, which nobody sees any more, is retained before it is purged with its files, in
    days.
    """
    hot_likes_per_s: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 20
    """From this many likes per second, a post's like count is buffered in Redis before it is written."""
    feed_push_followers: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] = 10_000
    """Authors with this many followers are celebrities: their posts are merged when a feed is read instead of
    fanned out to every follower.
    """
    feed_idle_days: Annotated[int, msgspec.Meta(ge=1, le=365)] = 7
    """How long the timeline of somebody who does not read is kept up to date, in days."""
    ranking_weights: str = ""
    """File with the weights of the feed's ranking. Empty: the one in the package."""
    experiments: tuple[str, ...] = ()
    """Experiment arms that everybody is in, as `experiment=arm`; nothing after the `=` ends the experiment."""
    training_share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.1
    """Share of people for whom impressions and outcomes are stored as training examples, from 0 to 1."""
    training_days: Annotated[int, msgspec.Meta(ge=1, le=365)] = 30
    """How long training examples are retained, in days."""
    trusted_proxies: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    """Networks of reverse proxies whose X-Forwarded-For is trusted for rate limits by address."""
    rate_limits: tuple[str, ...] = ()
    """Rate limits other than those of [limits.md](limits.md), as `name=count/seconds`, or `name=off` for none. The
    name `all` stands for every limit.
    """
    mail: Secret = ""
    """SMTP server (`smtp://user:password@host:587`, `smtps://…`). Empty: mails are files in `mail` in the data
    directory.
    """
    mail_from: str = "Tintype <no-reply@localhost>"
    """Sender of mails."""
    password_range_url: str = ""
    """Range API for leaked passwords (k-anonymity: five digits of a hash are sent). Empty: only the built-in list
    is checked.
    """
    vapid_key: Secret = ""
    """Key that signs Web Push messages: 32 bytes in URL-safe base64. Empty: generated at the first start and
    stored in the data directory.
    """
    push_contact: str = ""
    """Contact for push services, as a `mailto:` or `https:` address. Empty: `public_url`."""
    push_internal: bool = False
    """Whether push services may have internal addresses or plain http: only for a push service of your own."""
    outbox_keep_s: Annotated[int, msgspec.Meta(ge=0)] = 3_600
    """How long relayed events stay in the outbox, from which a lost JetStream is refilled, in seconds.

    Up to 5000 they are removed by whole partitions, beyond that one by one.
    """
    departure_grace_days: Annotated[int, msgspec.Meta(ge=0, le=365)] = 7
    """How long a deleted account can be recovered by signing in before it is erased, in days."""
    backup_to: Secret = ""
    """Where `tintype backup` and `tintype backups` find the backups, unless they are told: a directory, best on another
    disk, or an object store URL (`s3://bucket/prefix`).
    """
    backup_keep: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 14
    """How many backups are kept: when one was made, older ones are deleted."""
    backup_passphrase: Secret = ""
    """Passphrase of the backups. Empty: they are not encrypted. Keep a copy elsewhere: they do not open without it."""
    backup_s3_endpoint: str = ""
    """Address of the S3-compatible service of the backups. Empty, with no access key either: the media's service."""
    backup_s3_region: str = ""
    """Region of that service. Empty: `media_s3_region`."""
    backup_s3_access_key: Secret = ""
    """Access key of that service."""
    backup_s3_secret_key: Secret = ""
    """Secret key of that service."""
    job_attempts: Annotated[int, msgspec.Meta(ge=1, le=100)] = 8
    """How often a failing job is tried before it becomes a dead letter."""

    @property
    def has_realtime(self) -> bool:
        """Whether this process lets devices hold live connections; what `auto` means, the supervisor has decided."""
        return self.realtime is True


@dataclass(frozen=True)
class Loaded:
    """Settings together with where each of them came from."""

    settings: Settings
    origins: Mapping[str, str]


def load_settings(
    *,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Loaded:
    """Read defaults, file, environment and command-line overrides, the later winning."""
    environ = os.environ if environ is None else environ
    path = file or _find_file(environ)
    values: dict[str, Any] = {}
    sources: tuple[tuple[str, dict[str, Any]], ...] = (
        (str(path), _read_file(path)),
        ("environment", _read_environment(environ)),
        ("command line", dict(overrides or {})),
    )
    origins = dict.fromkeys(Settings.__struct_fields__, "default")
    for source, found in sources:
        values |= found
        origins |= dict.fromkeys(found, source)
    try:
        settings = msgspec.convert(values, Settings, strict=False, dec_hook=_to_path)
    except msgspec.ValidationError as error:
        raise SettingsInvalid(f"{error}. Look at {path} and at {PREFIX}… in the environment.") from error
    LimitOverrides(settings.rate_limits)  # refuses names of limits that do not exist
    return Loaded(_with_absolute_paths(settings, path), origins)


def settings_file() -> Path:
    """The settings file that this process reads, whether or not it exists."""
    return _find_file(os.environ)


def server_dsns(settings: Settings) -> dict[str, str]:
    """The PostgreSQL servers by name: their place in the list is their name, and each server remembers its own.

    An empty address holds the place of a server that was removed.
    """
    return {f"pg{number}": dsn for number, dsn in enumerate(settings.postgres, start=1) if dsn}


def map_file(settings: Settings) -> Path:
    """Where processes keep the last shard map, to start from while the directory is away."""
    return settings.home / "cache" / "shard-map.json"


def site_url(settings: Settings) -> str:
    """The address of this installation, as people type it; without a slash at its end."""
    return (settings.public_url or f"http://{settings.http_host}:{settings.http_port}").rstrip("/")


def replica_dsns(settings: Settings) -> dict[str, list[str]]:
    """The addresses of replicas by the name of their server."""
    servers = server_dsns(settings)
    found: dict[str, list[str]] = {}
    for text in settings.postgres_replicas:
        name, _, dsn = text.partition("=")
        if name not in servers or not dsn.startswith(("postgresql://", "postgres://")):
            raise SettingsInvalid(
                f"postgres_replicas: write SERVER=postgresql://…, with SERVER one of {', '.join(servers) or 'none'}: "
                "the servers of `postgres` are pg1, pg2 and so on."
            )
        found.setdefault(name, []).append(dsn)
    return found


def directory_dsn(settings: Settings) -> str:
    """Where the shard map is kept."""
    found = settings.directory or settings.postgres[0]
    if not found:
        raise SettingsInvalid(
            "The first server was removed: name the database that has the shard map in `directory`."
        )
    return found


def as_migrator(settings: Settings) -> Settings:
    """The same settings with the addresses of the role that owns the tables."""
    if not settings.postgres_migrator:
        return settings
    if len(settings.postgres_migrator) != len(settings.postgres):
        raise SettingsInvalid(
            "postgres_migrator and postgres must name the same databases, in the same order."
        )
    return msgspec.structs.replace(
        settings,
        postgres=settings.postgres_migrator,
        directory=settings.directory_migrator or settings.directory,
    )


def as_superuser(settings: Settings) -> Settings:
    """The same settings with the addresses of the superuser, where they are known: for moves of shards."""
    if not settings.postgres_admin:
        return as_migrator(settings)
    if len(settings.postgres_admin) != len(settings.postgres):
        raise SettingsInvalid("postgres_admin and postgres must name the same databases, in the same order.")
    return msgspec.structs.replace(settings, postgres=settings.postgres_admin)


def is_secret(name: str) -> bool:
    """Whether a setting must be masked when shown."""
    found: Any = msgspec.inspect.type_info(Settings.__annotations__[name])
    inner: Any = getattr(found, "item_type", found)
    extra: dict[str, Any] = getattr(inner, "extra", None) or {}
    return bool(extra.get("is_secret"))


def _to_path(kind: type, value: Any) -> Any:
    """Settings hold paths; files and the environment hold texts."""
    if kind is Path and isinstance(value, str):
        return Path(value).expanduser()
    raise TypeError(f"cannot read a {kind.__name__} from {value!r}")


def _find_file(environ: Mapping[str, str]) -> Path:
    return Path(environ.get(PREFIX + "CONFIG") or FILE_NAME).absolute()


def _read_file(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"{path} is not valid TOML: {error}") from error


def _read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in Settings.__struct_fields__:
        text = environ.get(PREFIX + name.upper())
        if text is not None:
            found[name] = _as_list(text, has_hosts=name.startswith("postgres")) if name in LISTS else text
    return found


def _as_list(text: str, *, has_hosts: bool) -> list[str]:
    """A JSON list, or values separated by commas or white space.

    With hosts, a comma within an address separates its hosts: `postgresql://app@db1,db2/app`.
    """
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise SettingsInvalid(f"not a JSON list: {error}") from error
    if has_hosts:
        return [each for each in _BETWEEN_ADDRESSES.split(text.strip(", \t\n")) if each]
    return text.replace(",", " ").split()


def _with_absolute_paths(settings: Settings, file: Path) -> Settings:
    base = file.parent
    return msgspec.structs.replace(
        settings, home=(base / settings.home).absolute(), web_dist=(base / settings.web_dist).absolute()
    )
