"""`manage.py check` finds misconfiguration."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.db import models
from django.test.utils import isolate_apps, override_settings
from site_cluster import Site

from shardwright.django.checks import check_configuration, check_directory

pytestmark = pytest.mark.slow  # the first of them migrates sixteen shards


def test_a_right_configuration_has_no_findings(site: Site) -> None:
    assert run_checks() == []
    assert check_directory(databases=["default"]) == []


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({}, ["shardwright.E001", "shardwright.W001"]),
        ({"DIRECTORY": "x", "APPS": ["photos"], "DIRCTORY": "y"}, ["shardwright.E002"]),
        ({"DIRECTORY": "x", "APPS": ["photos", "videos"]}, ["shardwright.E003"]),
        (
            {"DIRECTORY": "x", "APPS": ["photos", "django.contrib.auth"]},
            ["shardwright.E006", "shardwright.E007"],
        ),
    ],
)
def test_a_wrong_setting_is_found(site: Site, setting: dict[str, Any], expected: list[str]) -> None:
    with override_settings(SHARDWRIGHT=setting):
        assert sorted({each.id for each in check_configuration()}) == expected


def test_wrong_databases_are_found(site: Site) -> None:
    with override_settings(DATABASE_ROUTERS=[]):
        assert [each.id for each in check_configuration()] == ["shardwright.E005"]
    from django.conf import settings  # noqa: PLC0415 - changed in place: Django does not allow to override it

    settings.DATABASES["s0001"] = {}
    try:
        assert [each.id for each in check_configuration()] == ["shardwright.E004"]
    finally:
        del settings.DATABASES["s0001"]


def test_wrong_models_are_found(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with isolate_apps("photos"):

        class Narrow(models.Model):  # noqa: DJ008 - never shown
            id = models.AutoField(primary_key=True)
            user = models.ForeignKey(get_user_model(), on_delete=models.CASCADE)

            class Meta:
                app_label = "photos"

        monkeypatch.setattr("shardwright.django.checks.apps.get_models", lambda **_: [Narrow])
        found = {each.id: each for each in check_configuration()}

    assert set(found) == {"shardwright.E006", "shardwright.E007"}
    assert "BigIntegerField" in found["shardwright.E007"].hint


def test_a_directory_without_answer_or_shards_is_found(site: Site, new_site: Site) -> None:
    nowhere = {"DIRECTORY": "postgresql://nobody@127.0.0.1:1/x", "APPS": ["photos"]}
    with override_settings(SHARDWRIGHT=nowhere):
        assert [each.id for each in check_directory(databases=["default"])] == ["shardwright.W003"]
        assert check_directory() == []
