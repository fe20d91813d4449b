"""System checks: `manage.py check` finds what is misconfigured, `check --database default` also asks the directory."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name
from django.db.models import AutoField, BigAutoField, Model
from django.utils.module_loading import import_string

from shardwright.django.aliases import is_alias
from shardwright.django.conf import KNOWN, SETTING, get_maps, is_sharded, read_setting, sharded_labels
from shardwright.django.router import ShardRouter
from shardwright.errors import ShardwrightError


def check_configuration(**_: Any) -> list[CheckMessage]:
    """Everything that can be found without a database."""
    return [*_check_setting(), *_check_databases(), *_check_models()]


def check_directory(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Whether the directory answers and has shards; runs with `check --database …` and `migrate`."""
    if not databases or not read_setting().get("DIRECTORY"):
        return []
    try:
        latest = get_maps().refresh()
    except ShardwrightError as error:
        # A warning: `migrate` of the default database, which runs this check, needs no shards.
        return [Warning(f"The shard map cannot be loaded: {error}.", id="shardwright.W003")]
    if not latest.owners:
        hint = "Create shards: `shardwright init`, or `manage.py add_shards --total 64`."
        return [Warning("The shard map has no shards.", hint=hint, id="shardwright.W002")]
    return []


def _check_setting() -> Iterator[CheckMessage]:
    setting = read_setting()
    if not setting.get("DIRECTORY"):
        hint = f'Set {SETTING} = {{"DIRECTORY": "postgresql://…", "APPS": ["…"]}}.'
        yield Error(f'{SETTING}["DIRECTORY"] is missing.', hint=hint, id="shardwright.E001")
    if unknown := setting.keys() - KNOWN:
        hint = f"Known are {', '.join(sorted(KNOWN))}."
        yield Error(
            f"{SETTING} has unknown keys: {', '.join(sorted(unknown))}.", hint=hint, id="shardwright.E002"
        )
    known = {name for each in apps.get_app_configs() for name in (each.label, each.name)}
    for name in setting.get("APPS", ()):
        if name not in known:
            hint = "Give the label or the package of an app in INSTALLED_APPS."
            yield Error(
                f'{SETTING}["APPS"] names {name}, which is not installed.', hint=hint, id="shardwright.E003"
            )
    if not sharded_labels():
        yield Warning(f'{SETTING}["APPS"] is empty: no model lives on shards.', id="shardwright.W001")


def _check_databases() -> Iterator[CheckMessage]:
    for alias in settings.DATABASES:
        if is_alias(alias):
            hint = "Remove it or give it another name: shards have such aliases already."
            yield Error(f"DATABASES has an entry {alias}.", hint=hint, id="shardwright.E004")
    routers = [import_string(each) if isinstance(each, str) else each for each in settings.DATABASE_ROUTERS]
    if not any(isinstance(each, ShardRouter) or each is ShardRouter for each in routers):
        hint = 'Add "shardwright.django.ShardRouter".'
        yield Error("DATABASE_ROUTERS does not have the shard router.", hint=hint, id="shardwright.E005")


def _check_models() -> Iterator[CheckMessage]:
    for model in apps.get_models(include_auto_created=True):
        yield from _check_relations(model)
        if is_sharded(model):
            yield from _check_key(model)


def _check_key(model: type[Model]) -> Iterator[CheckMessage]:
    key = model._meta.pk
    if isinstance(key, AutoField) and not isinstance(key, BigAutoField):
        hint = 'Set DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField", or the model\'s own field.'
        yield Error(
            f"{model._meta.label}.{key.name} is a 32-bit key, and ids of shards are 64-bit.",
            hint=hint,
            obj=model,
            id="shardwright.E006",
        )


def _check_relations(model: type[Model]) -> Iterator[CheckMessage]:
    for field in (*model._meta.local_fields, *model._meta.local_many_to_many):
        other = field.related_model
        if not isinstance(other, type) or is_sharded(model) == is_sharded(other):
            continue
        yield Error(
            f"{model._meta.label}.{field.name} relates a model on shards with {other._meta.label}, which is not"
            if is_sharded(model)
            else f"{model._meta.label}.{field.name} relates to {other._meta.label}, which is on shards",
            hint="A foreign key cannot leave its database: keep the id in a BigIntegerField.",
            obj=model,
            id="shardwright.E007",
        )
