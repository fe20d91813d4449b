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
    """Where the embedded servers keep their data, and logs, secrets and state."""
    http_host: str = "127.0.0.1"
    http_port: Port = 8080
    public_url: str = ""
    """The address people type, when a proxy stands in front; empty: http://host:port."""
    web_workers: Annotated[int, msgspec.Meta(ge=1, le=256)] = 1
    worker_count: Annotated[int, msgspec.Meta(ge=1, le=256)] = 1
    postgres: tuple[Secret, ...] = ()
    """DSNs of existing PostgreSQL servers; empty: embedded ones are started."""
    postgres_servers: Annotated[int, msgspec.Meta(ge=1, le=64)] = 1
    directory: Secret = ""
    """DSN of the directory database; empty: the first PostgreSQL server."""
    shard_count: Annotated[int, msgspec.Meta(ge=1, le=8192)] = 64
    redis: Secret = ""
    """URL of an existing Redis or Valkey; empty: an embedded one is started."""
    nats: tuple[Secret, ...] = ()
    """URLs of existing NATS servers with JetStream; empty: an embedded one is started."""
    mqtt_port: Port = 1883
    mqtt_ws_port: Port = 8083
    media_store: Secret = ""
    """Where media live: a directory or an object store URL (`s3://bucket/prefix`); empty: `media` inside home."""
    media_store_warm: Secret = ""
    """Where media of the warm tier live; empty: where the hot ones do."""
    media_store_cold: Secret = ""
    """Where media of the cold tier live; empty: where the warm ones do."""
    media_s3_endpoint: str = ""
    """Address of an S3 service other than Amazon's; plain HTTP is allowed."""
    media_s3_region: str = "us-east-1"
    media_s3_access_key: Secret = ""
    media_s3_secret_key: Secret = ""
    media_work: str = ""
    """Where files lie while they are worked on; empty: `work` inside home."""
    media_photo_bytes: Annotated[int, msgspec.Meta(ge=1)] = 30 * 1024 * 1024
    media_video_bytes: Annotated[int, msgspec.Meta(ge=1)] = 100 * 1024 * 1024
    media_url_life_s: Annotated[int, msgspec.Meta(ge=60, le=7 * 86_400)] = 3_600
    """How long the address of a private account's file opens it at most."""
    media_warm_after_days: Annotated[int, msgspec.Meta(ge=0)] = 7
    media_cold_after_days: Annotated[int, msgspec.Meta(ge=0)] = 365
    media_cold_idle_days: Annotated[int, msgspec.Meta(ge=0, le=90)] = 90
    """Media grow cold only when nobody has looked at them for this long."""
    media_hot_reads_per_day: Annotated[int, msgspec.Meta(ge=1)] = 10
    """Media read more often than this stay hot, or become so again, whatever their age."""
    namespace: Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]{0,30}$")] = "tintype"
    """Prefix of Redis keys and NATS names, so that installations can share servers."""
    web_dist: Path = PACKED_WEB_APP
    """The built web app: the one in the package; a checkout's script points to its own."""
    log_format: Literal["text", "json"] = "text"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    secret_key: Secret = ""
    """Signs cursors and links; empty: made on first start and kept in home."""
    guests_may_read: bool = True
    """Whether people who have not signed in may read public profiles and posts."""
    demo_offered: bool = True
    """Whether the only account of a fresh site is offered to fill it with invented people."""
    posts_per_day: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 25
    """How many posts one person may publish within 24 hours."""
    stories_per_day: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 100
    """How many stories one person may show within 24 hours."""
    keep_deleted_posts_days: Annotated[int, msgspec.Meta(ge=0, le=3_650)] = 30
    """How long a deleted post, which nobody sees any more, is kept before it is purged with its pictures."""
    hot_likes_per_s: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 20
    """From how many likes a second on a post's count is added up in Redis before it is written."""
    feed_push_followers: Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)] = 10_000
    """From how many followers on an author's posts are merged when a feed is read, instead of being pushed to each."""
    feed_idle_days: Annotated[int, msgspec.Meta(ge=1, le=365)] = 7
    """How long the timeline of somebody who does not read is kept up to date."""
    ranking_weights: str = ""
    """A file of weights for the order of the feed; empty: the one in the package."""
    experiments: tuple[str, ...] = ()
    """Arms that everybody is in, as experiment=arm; nothing after the = ends the experiment for everybody."""
    training_share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.1
    """The share of people of whom is kept what they were shown and what came of it, to train rankings with."""
    training_days: Annotated[int, msgspec.Meta(ge=1, le=365)] = 30
    """For how long that is kept."""
    trusted_proxies: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    """Networks of proxies whose X-Forwarded-For is believed when addresses are counted."""
    mail: Secret = ""
    """An SMTP server (smtp://user:password@host:587, smtps://…); empty: mails are files in `mail` inside home."""
    mail_from: str = "Tintype <no-reply@localhost>"
    password_range_url: str = ""
    """A service that tells leaked passwords by the first digits of their hash; empty: nobody is asked."""
    vapid_key: Secret = ""
    """Signs pushes to browsers: 32 bytes in URL-safe base64; empty: made on first start and kept in home."""
    push_contact: str = ""
    """Whom push services may turn to, as mailto: or https: address; empty: public_url."""
    push_internal: bool = False
    """Whether a push service may have an internal address or speak plain http: only for one of your own."""
    outbox_keep_s: Annotated[int, msgspec.Meta(ge=0)] = 3_600
    """How long relayed events stay in PostgreSQL, so that a lost JetStream can be refilled."""
    departure_grace_days: Annotated[int, msgspec.Meta(ge=0, le=365)] = 7
    """How long somebody who deletes their account may change their mind; signing in takes it back."""
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
