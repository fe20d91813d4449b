"""`./tintype docs`: the reference pages of docs/, written from the code so that they cannot fall behind it."""

import ast
import importlib
import inspect
import itertools
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from prometheus_client import REGISTRY
from prometheus_client.metrics import MetricWrapperBase

import tintype
from develop import capacity_page
from develop.steps import CHECKOUT
from tintype.api.http.route_classes import CLASSES
from tintype.base import settings as settings_module
from tintype.base.rate_limits import (
    ACTION_LIMITS,
    REQUEST_LIMITS,
    RateLimit,
    RequestClass,
    account_limit,
    address_limit,
)
from tintype.base.settings import PREFIX, Settings, is_secret
from tintype.realtime import asyncapi_document

DOCS = CHECKOUT / "docs"
SETTINGS_HEAD = f"""# Settings

Every setting is a key of `tintype.toml`, and an environment variable: `{PREFIX}` and the name in capitals, which wins
over the file (`{PREFIX}HTTP_PORT=9000`). `tintype config` shows the values in effect and where each came from.
Secrets are masked there and in logs.

This page is written by `./tintype docs` from `src/tintype/base/settings.py`.

| setting | default | what it does |
|---|---|---|
"""
METRICS_HEAD = """# Metrics

`GET /metrics` on the port of the setting `metrics_port` (127.0.0.1:9464) answers in the Prometheus text format, for
this machine's web and worker processes together.
[operating.md](operating.md#metrics-and-alerts) says which of them to alert on.

This page is written by `./tintype docs` from the code. The shard router adds its own, which
[shardwright's page](../shardwright/docs/routing.md) lists.

| metric | kind | labels | what it counts |
|---|---|---|---|
"""

LIMITS_HEAD = """# Limits

Nobody, and no address, can keep the site busy alone. A limit allows a burst of its number and then as many per period
in the long run. A request over a limit is answered with 429, the code `rate_limited` and `Retry-After`. Responses tell
what is left in `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers): that of the account, or that
of the address where nobody is signed in.

An address is one IPv4 address or an IPv6 /64. This machine itself has no limits per address where no proxy stands in
front. Behind a proxy name it in `trusted_proxies`, or everybody shares its address.

The setting `rate_limits` changes any of them by name: `TINTYPE_RATE_LIMITS="reads=6000/60 likes=off"`. The name `all`
stands for every limit. [ADR 27](adr/0027-request-limits-are-counted-in-the-process.md) says how they are counted.
Without Redis each process counts for itself: reading and writing go on, and sign-in is never unlimited.

This page is written by `./tintype docs` from `src/tintype/base/rate_limits.py` and
`src/tintype/api/http/route_classes.py`.

## Requests

Every route belongs to one class. `healthz` and `readyz` have no limit.

| class | per account | per address | routes |
|---|---|---|---|
"""
ACTIONS_HEAD = """
## Actions

Counted one by one in Redis, beside the class of the route.

| limit | number | counts |
|---|---|---|
"""
ROUTES_IN_WORDS: dict[str, str] = {
    "reads": "every other GET",
    "writes": "every other",
    "files": "`GET /media/…`",
    "pages": "all outside of `/api/v1`",
}
SETTINGS_OF_LIMITS = (
    "posts_per_day", "stories_per_day", "storage_quota_mb", "videos_waiting", "video_minutes_per_day",
    "media_photo_bytes", "media_video_bytes",
)  # fmt: skip


def docs(
    *,
    only_check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail when a page is out of date.")
    ] = False,
) -> None:
    """Write the reference pages under docs/ that are made from the code."""
    stale: list[str] = []
    for page, text in {
        DOCS / "settings.md": render_settings(),
        DOCS / "metrics.md": render_metrics(),
        DOCS / "limits.md": render_limits(),
        DOCS / "asyncapi.json": render_asyncapi(),
        capacity_page.PAGE: capacity_page.render_capacity(),
    }.items():
        if not only_check:
            page.write_text(text)
        elif not page.exists() or page.read_text() != text:
            stale.append(page.name)
    if stale:
        typer.echo(f"{' and '.join(stale)} under docs/ do not match the code: run ./tintype docs.")
        raise typer.Exit(1)


def render_asyncapi() -> str:
    """The AsyncAPI document of what is on the topics of live connections."""
    return json.dumps(asyncapi_document(tintype.__version__), indent=2) + "\n"


def render_settings() -> str:
    """The page of settings: every field, its default and its docstring."""
    texts = dict(_documented_fields())
    missing = [name for name in Settings.__struct_fields__ if not texts.get(name)]
    if missing:
        raise ValueError(f"settings without a docstring: {', '.join(missing)}")
    default = Settings()
    rows = [
        f"| `{name}` | {_show(name, getattr(default, name))} | {texts[name]} |"
        for name in Settings.__struct_fields__
    ]
    return SETTINGS_HEAD + "\n".join(rows) + "\n"


def render_metrics() -> str:
    """The page of metrics: every one that a module of tintype registers when it is imported."""
    for module in pkgutil.walk_packages(tintype.__path__, "tintype."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    known: dict[str, MetricWrapperBase] = {}
    for collector in list(REGISTRY._collector_to_names):  # noqa: SLF001 - the registry has no public list of collectors
        if isinstance(collector, MetricWrapperBase):
            known[collector._name] = collector  # noqa: SLF001 - likewise for its parts
    rows = [
        f"| `{name}{'_total' if each._type == 'counter' else ''}` | {each._type} | "  # noqa: SLF001 - likewise
        f"{_labels(each)} | {each._documentation} |"  # noqa: SLF001 - likewise
        for name, each in sorted(known.items())
        if name.startswith("tintype_")
    ]
    return METRICS_HEAD + "\n".join(rows) + "\n"


def render_limits() -> str:
    """The page of limits: the table of rate limits, the routes of each class, and the settings of other limits."""
    classes = [
        f"| {row.what} | {_budget(account_limit(row))} | {_budget(address_limit(row))} | {_routes(row.name)} |"
        for row in REQUEST_LIMITS
    ]
    actions = [f"| `{limit.name}` | {_number(limit)} | {limit.what} |" for limit in ACTION_LIMITS]
    texts, default = dict(_documented_fields()), Settings()
    others = [f"| `{name}` | `{getattr(default, name)}` | {texts[name]} |" for name in SETTINGS_OF_LIMITS]
    settings_head = "\n## By setting\n\n| setting | default | what it does |\n|---|---|---|\n"
    return (
        LIMITS_HEAD
        + "\n".join(classes) + "\n"
        + ACTIONS_HEAD
        + "\n".join(actions) + "\n"
        + settings_head
        + "\n".join(others) + "\n"
    )  # fmt: skip


def _routes(name: RequestClass) -> str:
    return ROUTES_IN_WORDS.get(name) or ", ".join(f"`{route}`" for route in CLASSES[name])


def _budget(limit: RateLimit | None) -> str:
    return f"`{limit.name}`: {_number(limit)}" if limit else "none"


def _number(limit: RateLimit) -> str:
    for unit, unit_s in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if limit.per_s % unit_s == 0:
            count = int(limit.per_s // unit_s)
            return f"{limit.count:,} per {f'{count} {unit}s' if count > 1 else unit}"
    return f"{limit.count:,} per {round(limit.per_s)} s"


def _labels(metric: MetricWrapperBase) -> str:
    names = cast("tuple[str, ...]", metric._labelnames)  # noqa: SLF001 - prometheus_client has no public accessor
    return ", ".join(f"`{name}`" for name in names) or "none"


def _documented_fields() -> Iterator[tuple[str, str]]:
    """Fields of Settings with the string literal that follows each."""
    body = ast.parse(Path(inspect.getsourcefile(settings_module) or "").read_text()).body
    fields = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == "Settings")
    for field, text in itertools.pairwise(fields):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            yield field.target.id, _literal(text)


def _literal(node: ast.stmt) -> str:
    """The text of a statement that is a string literal; nothing of any other."""
    if (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ):
        return " ".join(node.value.value.split())
    return ""


def _show(name: str, value: Any) -> str:
    if name == "web_dist":
        return "the app in the package"
    if isinstance(value, tuple):
        return ", ".join(f"`{each}`" for each in cast("tuple[str, ...]", value)) or "none"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if value == "":
        return "none (secret)" if is_secret(name) else "none"
    return f"`{value}`"
