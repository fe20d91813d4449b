import stat
from pathlib import Path

import pytest

from tintype.base.errors import SettingsInvalid
from tintype.base.secret_key import read_or_create
from tintype.base.settings import Settings, is_secret, load_settings
from tintype.cli.config import MASK, effective


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / "tintype.toml"
    file.write_text('http_port = 9000\nhttp_host = "0.0.0.0"\n')

    loaded = load_settings(environ={"TINTYPE_HTTP_PORT": "9001"}, file=file)

    assert loaded.settings.http_port == 9001
    assert loaded.settings.http_host == "0.0.0.0"  # noqa: S104 - an example
    assert loaded.settings.web_workers == 0
    assert loaded.origins["http_port"] == "environment"
    assert loaded.origins["http_host"] == str(file)
    assert loaded.origins["web_workers"] == "default"


@pytest.mark.parametrize("text", ['["postgresql://a", "postgresql://b"]', "postgresql://a,postgresql://b"])
def test_lists_in_the_environment_are_json_or_separated_by_commas(tmp_path: Path, text: str) -> None:
    loaded = load_settings(environ={"TINTYPE_POSTGRES": text}, file=tmp_path / "none.toml")

    assert loaded.settings.postgres == ("postgresql://a", "postgresql://b")


def test_an_address_in_the_environment_may_name_several_hosts(tmp_path: Path) -> None:
    environ = {
        "TINTYPE_POSTGRES": "postgresql://app:x@db1,db2:5433/app,postgresql://app:x@db3/app, ",
        "TINTYPE_POSTGRES_REPLICAS": "pg1=postgresql://db4/app,pg2=postgresql://db5,db6/app",
    }
    settings = load_settings(environ=environ, file=tmp_path / "none.toml").settings

    assert settings.postgres == ("postgresql://app:x@db1,db2:5433/app", "postgresql://app:x@db3/app")
    assert settings.postgres_replicas == ("pg1=postgresql://db4/app", "pg2=postgresql://db5,db6/app")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("http_port = 70000", "<= 65535"),
        ("htttp_port = 80", "htttp_port"),
        ("http_port = ", "not valid TOML"),
        ('log_format = "xml"', "xml"),
        ('namespace = "Has Spaces"', "namespace"),
    ],
)
def test_an_invalid_setting_is_refused_with_the_reason(tmp_path: Path, content: str, complaint: str) -> None:
    file = tmp_path / "tintype.toml"
    file.write_text(content)

    with pytest.raises(SettingsInvalid, match=complaint):
        load_settings(environ={}, file=file)


def test_relative_paths_are_relative_to_the_settings_file(tmp_path: Path) -> None:
    assert load_settings(environ={}, file=tmp_path / "tintype.toml").settings.home == tmp_path / ".tintype"


def test_the_data_directory_can_be_set_in_the_environment(tmp_path: Path) -> None:
    loaded = load_settings(environ={"TINTYPE_HOME": "/srv/tintype"}, file=tmp_path / "none.toml")

    assert loaded.settings.home == Path("/srv/tintype")


def test_secrets_are_masked_and_plain_values_are_not(tmp_path: Path) -> None:
    environ = {
        "TINTYPE_POSTGRES": "postgresql://u:hush@h/d",
        "TINTYPE_SECRET_KEY": "hush",
        "TINTYPE_HTTP_PORT": "81",
    }

    shown = effective(load_settings(environ=environ, file=tmp_path / "none.toml"))

    assert "hush" not in str(shown)
    assert shown["postgres"]["value"] == [MASK]
    assert shown["http_port"] == {"value": 81, "origin": "environment"}


def test_every_setting_that_may_hold_a_password_is_secret() -> None:
    assert {name for name in Settings.__struct_fields__ if is_secret(name)} == {
        "postgres",
        "postgres_migrator",
        "postgres_replicas",
        "postgres_admin",
        "directory_migrator",
        "directory",
        "redis",
        "nats",
        "nats_system",
        "media_store",
        "mail",
        "media_store_warm",
        "media_store_cold",
        "media_s3_access_key",
        "media_s3_secret_key",
        "secret_key",
        "vapid_key",
        "media_purge_token",
        "backup_to",
        "backup_passphrase",
        "backup_s3_access_key",
        "backup_s3_secret_key",
    }


def test_a_secret_is_generated_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "key"

    first = read_or_create(path)

    assert read_or_create(path) == first
    assert len(first) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["key"]
