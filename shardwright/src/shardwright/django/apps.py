"""The Django app: makes the shards known to Django, and registers the system checks."""

from django.apps import AppConfig
from django.core import checks
from django.core.signals import setting_changed

from shardwright.django.conf import forget


class ShardwrightConfig(AppConfig):
    """`shardwright.django` in INSTALLED_APPS."""

    name = "shardwright.django"
    label = "shardwright"
    verbose_name = "Shards"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Extend Django's table of databases by the shards."""
        from shardwright.django.checks import check_configuration, check_directory  # noqa: PLC0415 - needs the apps
        from shardwright.django.databases import install  # noqa: PLC0415 - likewise

        install()
        checks.register(check_configuration)
        checks.register(check_directory, checks.Tags.database)
        setting_changed.connect(forget)
