"""What would split a site over several machines: everything that falls back to the disk or address of one of them.

On one machine each of these defaults is right. On two, each machine would make its own secret, keep its own photos and
write its own mails, and nothing would say so until somebody's link fails on every second request.
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Iterator

from tintype.base.settings import Settings, replica_dsns
from tintype.stack.address_forms import list_hosts, without_secrets
from tintype.stack.doctor_checks import Finding, Verdict

_LOCAL_NAMES = ("localhost", "ip6-localhost")
_FINGERPRINT_LENGTH = 12
_SAME = (
    *("secret_key", "vapid_key", "namespace", "public_url", "mail", "mail_from"),
    *("media_store", "media_store_warm", "media_store_cold", "media_s3_endpoint", "media_s3_region"),
    *("media_url_life_s", "registration", "guests_may_read", "realtime"),
)
"""Settings that must have the same value on every machine. Addresses of engines may differ: of a proxy on each."""
_ENGINES = {
    "postgres": 'Name them in `postgres`: ["postgresql://…@db1,db1-standby/tintype"].',
    "redis": "Name one that all machines reach in `redis`: redis://:…@cache:6379/0.",
    "nats": 'Name them in `nats`: ["nats://…@nats1:4222", …].',
}


def find_splits(settings: Settings) -> list[Finding]:
    """Every setting that a site on several machines needs, and whether it holds on all of them."""
    return [
        _secret(settings, "secret_key", "key", "links, cursors and live connections of others fail"),
        _secret(settings, "vapid_key", "vapid", "browsers refuse pushes of all machines but one"),
        _mail(settings),
        *_media(settings),
        *_engines(settings),
        *_local_addresses(settings),
        _public_url(settings),
        _proxies(settings),
        *_realtime(settings),
        *_weights(settings),
    ]


def fingerprint(settings: Settings) -> str:
    """A short code that is the same on all machines whose settings agree; empty where there is no secret to key it."""
    if not settings.secret_key:
        return ""
    values = "\n".join(f"{name}={getattr(settings, name)!r}" for name in _SAME)
    return hmac.new(settings.secret_key.encode(), values.encode(), hashlib.sha256).hexdigest()[
        :_FINGERPRINT_LENGTH
    ]


def _secret(settings: Settings, name: str, file: str, consequence: str) -> Finding:
    if getattr(settings, name):
        return Finding(name, Verdict.OK, "is set")
    path = settings.home / "secrets" / file
    how = f"the content of {path}" if path.exists() else "32 random bytes in URL-safe base64"
    return Finding(
        name,
        Verdict.WRONG,
        f"is not set: each machine makes its own, and {consequence}",
        f"Give all machines the same TINTYPE_{name.upper()}: {how}.",
    )


def _mail(settings: Settings) -> Finding:
    if settings.mail:
        return Finding("mail", Verdict.OK, "is sent by a mail server")
    detail = "is not set: mails become files on whichever machine's worker wrote them, and reach nobody"
    return Finding("mail", Verdict.WRONG, detail, "Name a mail server: smtp://user:password@host:587.")


def _media(settings: Settings) -> Iterator[Finding]:
    names = ["media_store"] + [
        name for name in ("media_store_warm", "media_store_cold") if getattr(settings, name)
    ]
    for name in names:
        store = str(getattr(settings, name))
        if not store:
            detail = "is not set: each machine keeps the photos that were uploaded to it, and answers 404 for others"
            yield Finding(name, Verdict.WRONG, detail, "Name an object store: s3://bucket/prefix.")
        elif "://" not in store or store.startswith("file:"):
            detail = f"is the directory {store}"
            fix = "Fine if every machine mounts the same file system there; otherwise name an object store."
            yield Finding(name, Verdict.WARNING, detail, fix)
        else:
            yield Finding(name, Verdict.OK, f"is {store.partition('://')[0]}://…")


def _engines(settings: Settings) -> Iterator[Finding]:
    for name, fix in _ENGINES.items():
        if not getattr(settings, name):
            yield Finding(name, Verdict.WRONG, "is not set: each machine would start its own server", fix)


def _local_addresses(settings: Settings) -> Iterator[Finding]:
    redis = (settings.redis,) if settings.redis else ()
    replicas = [dsn for dsns in replica_dsns(settings).values() for dsn in dsns]
    addresses: dict[str, tuple[str, ...]] = {
        "postgres": settings.postgres,
        "directory": (settings.directory,),
        "postgres_replicas": tuple(replicas),
        "redis": redis,
        "nats": settings.nats,
        "nats_system": (settings.nats_system,),
        "mqtt_upstream": (settings.mqtt_upstream,),
    }
    for name, values in addresses.items():
        local = [each for each in values if each and any(map(_is_local, list_hosts(each)))]
        if local:
            detail = f"names this machine: {', '.join(map(without_secrets, local))}"
            fix = "Fine if every machine runs the same proxy there; otherwise give an address that all machines reach."
            yield Finding(name, Verdict.WARNING, detail, fix)


def _is_local(host: str) -> bool:
    if host.startswith("/"):
        return True
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False  # a name: where it leads, the servers' answers tell


def _public_url(settings: Settings) -> Finding:
    if settings.public_url:
        return Finding("public_url", Verdict.OK, f"is {settings.public_url}")
    detail = "is not set: links in mails name single machines, and passkeys work at one of them alone"
    fix = "Set the address that people type: https://photos.example.org."
    return Finding("public_url", Verdict.WRONG, detail, fix)


def _proxies(settings: Settings) -> Finding:
    networks = [ipaddress.ip_network(each, strict=False) for each in settings.trusted_proxies]
    if any(not each.is_loopback for each in networks):
        return Finding("trusted_proxies", Verdict.OK, f"are {', '.join(settings.trusted_proxies)}")
    detail = "are this machine alone: a proxy on another one makes all its users one address"
    fix = "Add the network of your load balancers, if they run on machines of their own."
    return Finding("trusted_proxies", Verdict.WARNING, detail, fix)


def _realtime(settings: Settings) -> Iterator[Finding]:
    if not settings.has_realtime or not settings.nats:
        return
    for name in ("nats_system", "mqtt_upstream"):
        if not getattr(settings, name):
            detail = "is not set, and live connections are on"
            fix = "See docs/operating.md, Real time; or set realtime = false."
            yield Finding(name, Verdict.WRONG, detail, fix)


def _weights(settings: Settings) -> Iterator[Finding]:
    if settings.ranking_weights:
        detail = f"is the file {settings.ranking_weights}"
        fix = "Put the same file on every machine: feeds are ordered by whichever machine answers."
        yield Finding("ranking_weights", Verdict.WARNING, detail, fix)
