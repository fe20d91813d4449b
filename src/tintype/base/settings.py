"""What an operator may choose, read once, from one place.

Every setting has a default that suits one machine. `tintype.toml` overrides the default, the environment
(`TINTYPE_` and the name in capitals) overrides the file. `Origins` remembers where each value came from, so
that `tintype config` can answer the question people really ask: who set this?
"""

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from tintype.base.errors import SettingsInvalid

PREFIX = "TINTYPE_"
FILE_NAME = "tintype.toml"
PACKED_WEB_APP = Path(__file__).resolve().parent.parent / "web_dist"

Port = Annotated[int, msgspec.Meta(ge=1, le=65535)]
Secret = Annotated[str, msgspec.Meta(extra={"is_secret": True})]
"""A value that is never shown: passwords, keys, addresses that may hold a password."""


LISTS = frozenset({"postgres", "nats", "trusted_proxies", "experiments"})


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
    and passkeys are bound to it.
    """
    web_workers: Annotated[int, msgspec.Meta(ge=1, le=256)] = 1
    """Number of web processes."""
    worker_count: Annotated[int, msgspec.Meta(ge=1, le=256)] = 1
    """Number of worker processes, which run jobs and schedules."""
    postgres: tuple[Secret, ...] = ()
    """DSNs of your own PostgreSQL servers. Empty: embedded ones are started."""
    postgres_servers: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    """Number of embedded PostgreSQL servers."""
    directory: Secret = ""
    """DSN of the database that holds the shard map. Empty: the first PostgreSQL server."""
    shard_count: Annotated[int, msgspec.Meta(ge=1, le=8192)] = 64
    """Number of logical shards, chosen once when the installation is created. A cluster should begin with 512 or
    more.
    """
    redis: Secret = ""
    """URL of your own Redis or Valkey server. Empty: an embedded one is started."""
    nats: tuple[Secret, ...] = ()
    """URLs of your own NATS servers with JetStream. Empty: an embedded one is started."""
    mqtt_port: Port = 1883
    """Port of the embedded NATS server for MQTT."""
    mqtt_ws_port: Port = 8083
    """Port of the embedded NATS server for MQTT over WebSocket."""
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
    media_photo_bytes: Annotated[int, msgspec.Meta(ge=1)] = 30 * 1024 * 1024
    """Largest photo that is accepted, in bytes."""
    media_video_bytes: Annotated[int, msgspec.Meta(ge=1)] = 100 * 1024 * 1024
    """Largest video that is accepted, in bytes."""
    media_url_life_s: Annotated[int, msgspec.Meta(ge=60, le=7 * 86_400)] = 3_600
    """How long a signed URL of a private account's file works, in seconds."""
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
    """How long relayed events stay in the outbox, from which a lost JetStream is refilled, in seconds."""
    departure_grace_days: Annotated[int, msgspec.Meta(ge=0, le=365)] = 7
    """How long a deleted account can be recovered by signing in before it is erased, in days."""
    job_attempts: Annotated[int, msgspec.Meta(ge=1, le=100)] = 8
    """How often a failing job is tried before it becomes a dead letter."""


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
    return Loaded(_with_absolute_paths(settings, path), origins)


def server_dsns(settings: Settings) -> dict[str, str]:
    """The PostgreSQL servers by name: their place in the list is their name, and each server remembers its own."""
    return {f"pg{number}": dsn for number, dsn in enumerate(settings.postgres, start=1)}


def directory_dsn(settings: Settings) -> str:
    """Where the shard map is kept."""
    return settings.directory or settings.postgres[0]


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
            found[name] = _as_list(text) if name in LISTS else text
    return found


def _as_list(text: str) -> list[str]:
    """A JSON list, or values separated by commas or white space."""
    if text.lstrip().startswith("["):
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise SettingsInvalid(f"not a JSON list: {error}") from error
    return text.replace(",", " ").split()


def _with_absolute_paths(settings: Settings, file: Path) -> Settings:
    base = file.parent
    return msgspec.structs.replace(
        settings, home=(base / settings.home).absolute(), web_dist=(base / settings.web_dist).absolute()
    )
