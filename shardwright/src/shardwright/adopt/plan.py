"""The plan of an adoption: which tables follow the tenant, which are copied to every server, which stay.

A plan is a TOML file that `adopt propose` writes and people edit:

    schema = "public"
    placement = "tenant"            # or "shard 0"
    tenant = "auth_user"
    lookups = ["auth_group"]
    stay = ["django_session"]

    [follow]
    shop_order = "customer_id"      # a column, or a list of columns, with a foreign key to a table that follows
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from shardwright.adopt.errors import AdoptRefused

Placement = Literal["tenant", "shard 0"]
PLACEMENTS: tuple[Placement, ...] = ("tenant", "shard 0")
_KEYS = frozenset({"schema", "placement", "tenant", "lookups", "stay", "follow", "shadow"})


@dataclass(frozen=True)
class Plan:
    """Where each table goes. `follow` has the columns by which a table finds its tenant, or its way there."""

    schema: str = "public"
    placement: Placement = "tenant"
    tenant: str = ""
    follow: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    lookups: tuple[str, ...] = ()
    stay: tuple[str, ...] = ()
    shadow: tuple[str, ...] = ()
    """Queries that `adopt shadow` compares, with :tenant in the place of a tenant's key."""

    @property
    def followers(self) -> list[str]:
        """The tables of shards: the tenant's own first."""
        return [self.tenant, *(name for name in self.follow if name != self.tenant)]

    @property
    def tables(self) -> list[str]:
        """Every table that is copied."""
        return [*self.followers, *self.lookups]

    def to_dict(self) -> dict[str, Any]:
        """The plan as TOML and JSON have it."""
        return {
            "schema": self.schema,
            "placement": self.placement,
            "tenant": self.tenant,
            "lookups": list(self.lookups),
            "stay": list(self.stay),
            "shadow": list(self.shadow),
            "follow": {name: list(columns) for name, columns in self.follow.items()},
        }


def load_plan(path: Path) -> Plan:
    """Read a plan; raises with the reason why it is none."""
    try:
        return parse_plan(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise AdoptRefused(f"{path} cannot be read as a plan: {error}") from error


def parse_plan(content: Mapping[str, Any]) -> Plan:
    """The plan in a decoded TOML or JSON document; raises when it is not one."""
    if strange := sorted(content.keys() - _KEYS):
        raise AdoptRefused(f"a plan has no {strange[0]!r}: it has {', '.join(sorted(_KEYS))}")
    placement = content.get("placement", "tenant")
    if placement not in PLACEMENTS:
        raise AdoptRefused(f"placement is {placement!r}: write one of {', '.join(map(repr, PLACEMENTS))}")
    tenant = content.get("tenant")
    if not isinstance(tenant, str) or not tenant:
        raise AdoptRefused("the plan names no tenant: write the table that all others follow")
    follow = content.get("follow", {})
    if not isinstance(follow, dict):
        raise AdoptRefused("follow is not a table of columns by table name")
    pairs = cast("dict[str, Any]", follow)
    plan = Plan(
        schema=_text(content.get("schema", "public"), "schema"),
        placement=placement,
        tenant=tenant,
        follow={name: _columns(name, value) for name, value in pairs.items() if name != tenant},
        lookups=_names(content, "lookups"),
        stay=_names(content, "stay"),
        shadow=_names(content, "shadow"),
    )
    named = [*plan.tables, *plan.stay]
    if twice := sorted({name for name in named if named.count(name) > 1}):
        raise AdoptRefused(f"the plan has two places for {twice[0]}: leave one of them")
    return plan


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise AdoptRefused(f"{name} is not a name")
    return value


def _names(content: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = content.get(key, [])
    if not isinstance(value, list):
        raise AdoptRefused(f"{key} is not a list")
    return tuple(_text(each, f"an entry of {key}") for each in cast("list[Any]", value))


def _columns(table: str, value: Any) -> tuple[str, ...]:
    columns = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not columns:
        raise AdoptRefused(f"{table} follows no column: name one, or move it to lookups or stay")
    return tuple(_text(each, f"a column of {table}") for each in columns)


def write_plan(plan: Plan, notes: Mapping[str, str], remarks: Sequence[str]) -> str:
    """The plan as a TOML file: `notes` stand beside their tables, `remarks` at the end."""
    lines = [
        "# A proposal of `shardwright adopt propose`. Edit it, then: shardwright adopt start --from DSN --plan FILE",
        f"schema = {_quote(plan.schema)}",
        "",
        '# "tenant": each row goes to the shard of its tenant, Shards.of(str(KEY)). "shard 0": all rows go there.',
        f"placement = {_quote(plan.placement)}",
        f"tenant = {_quote(plan.tenant)}{_note(notes, plan.tenant)}",
        "",
        "# Copied to the schema `common` of every server.",
        *_list("lookups", plan.lookups, notes),
        "",
        "# Not copied: they stay in the old database.",
        *_list("stay", plan.stay, notes),
        "",
        "# Queries that `adopt shadow` compares on both sides, with :tenant for a tenant's key.",
        *_list("shadow", plan.shadow, {}),
        "",
        "# The column of each table that refers to its tenant, or to a table that follows it.",
        "[follow]",
    ]
    for name, columns in plan.follow.items():
        value = _quote(columns[0]) if len(columns) == 1 else f"[{', '.join(map(_quote, columns))}]"
        lines.append(f"{_quote(name)} = {value}{_note(notes, name)}")
    if remarks:
        lines += ["", *(f"# {line}".rstrip() for remark in remarks for line in remark.splitlines())]
    return "\n".join(lines) + "\n"


def _list(key: str, names: Sequence[str], notes: Mapping[str, str]) -> list[str]:
    if not names:
        return [f"{key} = []"]
    return [f"{key} = [", *(f"  {_quote(name)},{_note(notes, name)}" for name in names), "]"]


def _note(notes: Mapping[str, str], name: str) -> str:
    return f"  # {notes[name]}" if name in notes else ""


def _quote(text: str) -> str:
    """A TOML basic string."""
    escaped = "".join(
        f"\\{each}" if each in '"\\' else each if each.isprintable() else f"\\u{ord(each):04x}"
        for each in text
    )
    return f'"{escaped}"'
