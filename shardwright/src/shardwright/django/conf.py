"""The setting SHARDWRIGHT, and the shard map that this process uses."""

from functools import cache
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from shardwright.psycopg import MapCache
from shardwright.psycopg.map_cache import MAX_AGE_S

SETTING = "SHARDWRIGHT"
KNOWN = frozenset(
    {"DIRECTORY", "APPS", "DSNS", "MAP_MAX_AGE", "CONN_MAX_AGE", "CONN_HEALTH_CHECKS", "OPTIONS", "TIME_ZONE"}
)


def read_setting() -> dict[str, Any]:
    """The setting as it is; empty when there is none."""
    return getattr(settings, SETTING, {})


@cache
def get_maps() -> MapCache:
    """The cached shard map of the directory that the setting names."""
    setting = read_setting()
    if not setting.get("DIRECTORY"):
        raise ImproperlyConfigured(
            f'{SETTING}["DIRECTORY"] is missing: give it the address of the directory database'
        )
    return MapCache(
        setting["DIRECTORY"], dsns=setting.get("DSNS"), max_age_s=setting.get("MAP_MAX_AGE", MAX_AGE_S)
    )


@cache
def sharded_labels() -> frozenset[str]:
    """The labels of the apps whose models live on shards; the setting may name their packages instead."""
    wanted = set(read_setting().get("APPS", ()))
    return frozenset(each.label for each in apps.get_app_configs() if wanted & {each.label, each.name})


def is_sharded(model: Any) -> bool:
    """Whether the model's tables live on shards."""
    return model._meta.app_label in sharded_labels()


def database_settings(alias: str) -> dict[str, Any]:
    """A shard's entry, as one in DATABASES would be."""
    setting = read_setting()
    return {
        "ENGINE": "shardwright.django.backend",
        "NAME": alias,
        "USER": "",
        "PASSWORD": "",
        "HOST": "",
        "PORT": "",
        "ATOMIC_REQUESTS": False,
        "AUTOCOMMIT": True,
        "CONN_MAX_AGE": setting.get("CONN_MAX_AGE", 0),
        "CONN_HEALTH_CHECKS": setting.get("CONN_HEALTH_CHECKS", False),
        "OPTIONS": dict(setting.get("OPTIONS", {})),
        "TIME_ZONE": setting.get("TIME_ZONE"),
        "TEST": {"CHARSET": None, "COLLATION": None, "MIGRATE": False, "MIRROR": None, "NAME": None},
    }


def forget(**_: Any) -> None:
    """Read the settings again: a test has changed them."""
    get_maps.cache_clear()
    sharded_labels.cache_clear()
