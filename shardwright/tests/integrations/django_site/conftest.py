"""A Django site whose photos live on sixteen shards on two servers."""

import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import django
import pytest
from django.conf import settings
from django.core.management import call_command
from psycopg.conninfo import conninfo_to_dict

from shardwright.local import LocalServer
from shardwright.topology import Directory, open_connection

sys.path.insert(0, str(Path(__file__).parent))  # where the application lies
from site_cluster import Site


def configure(dsn: str, setting: dict[str, Any]) -> None:
    """Settings of an ordinary site; its default database is that of server a, as small sites have it."""
    default = conninfo_to_dict(dsn)
    settings.configure(
        SECRET_KEY="of a test",
        ALLOWED_HOSTS=["*"],
        USE_TZ=True,
        ROOT_URLCONF="photos.urls",
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": default["dbname"],
                "USER": default.get("user", ""),
                "PASSWORD": default.get("password", ""),
                "HOST": default.get("host", ""),
                "PORT": str(default.get("port", "")),
            }
        },
        DATABASE_ROUTERS=["shardwright.django.ShardRouter"],
        SHARDWRIGHT=setting,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        INSTALLED_APPS=[
            "django.contrib.admin",
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.messages",
            "django.contrib.sessions",
            "shardwright.django",
            "photos",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        STATIC_URL="static/",
    )
    django.setup()


async def make_shards(dsns: Mapping[str, str], count: int) -> None:
    directory = await Directory.open(dsns["a"])
    await directory.create()
    for name, dsn in dsns.items():
        await directory.add_server(name, dsn)
    await directory.ensure_shards(count)
    await directory.close()


@pytest.fixture(scope="session")
async def site_dsns(servers: Mapping[str, LocalServer]) -> dict[str, str]:
    """Two databases with sixteen shards, without tables."""
    dsns: dict[str, str] = {}
    for name, server in servers.items():
        conn = await open_connection(server.dsn(), name)
        await conn.execute(f"CREATE DATABASE django_{os.getpid()}")
        await conn.close()
        dsns[name] = server.dsn(f"django_{os.getpid()}")
    await make_shards(dsns, 16)
    return dsns


@pytest.fixture(scope="session")
def site(site_dsns: dict[str, str]) -> Iterator[Site]:
    """The site, migrated by its own commands; shared by the tests of one worker."""
    site = Site(site_dsns, ModuleType("not loaded yet"))
    configure(site.directory_dsn, site.setting())
    from photos import models  # noqa: PLC0415 - Django must be configured before its models are imported

    site.models = models
    call_command("migrate", verbosity=0)
    call_command("migrate_shards", verbosity=0)
    yield site
    from django.db import connections  # noqa: PLC0415 - likewise

    connections.close_all()


@pytest.fixture
async def new_site(site: Site, prepared_databases: Callable[..., Awaitable[dict[str, str]]]) -> Site:
    """Four shards of one test's own, without tables."""

    async def build(dsns: dict[str, str]) -> None:
        await make_shards(dsns, 4)

    return Site(await prepared_databases("django", build), site.models)


@pytest.fixture
def use_new_site(new_site: Site) -> Iterator[Site]:
    """`new_site`, as the one that Django uses."""
    from django.db import connections  # noqa: PLC0415 - likewise
    from django.test.utils import override_settings  # noqa: PLC0415 - likewise

    with override_settings(SHARDWRIGHT=new_site.setting()):
        yield new_site
        connections.close_all()


@pytest.fixture
def migrated(use_new_site: Site) -> None:
    """The shards of `new_site` have their tables."""
    call_command("migrate_shards", verbosity=0)
