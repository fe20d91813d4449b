"""Whatever falls back to one machine's disk or address is found before a site is split by it."""

from pathlib import Path

import msgspec
import pytest

from tintype.base.settings import Settings
from tintype.stack import Finding, Verdict, find_splits, fingerprint

WHOLE = Settings(
    home=Path("/var/lib/tintype"),
    secret_key="a key",
    vapid_key="another key",
    mail="smtp://mail:587",
    media_store="s3://photos/tintype",
    public_url="https://photos.example.org",
    postgres=("postgresql://tintype:hush@db1,db2/tintype",),
    redis="redis://:hush@cache:6379/0",
    nats=("nats://nats1:4222", "nats://nats2:4222", "nats://nats3:4222"),
    trusted_proxies=("10.0.0.0/8",),
)


def test_a_site_that_is_whole_has_no_findings() -> None:
    assert {each.verdict for each in find_splits(WHOLE)} == {Verdict.OK}


@pytest.mark.parametrize(
    "name", ["secret_key", "vapid_key", "mail", "media_store", "public_url", "postgres", "redis", "nats"]
)
def test_what_falls_back_to_one_machine_is_wrong_and_says_how_to_fix_it(name: str) -> None:
    without = msgspec.structs.replace(WHOLE, **{name: () if name in {"postgres", "nats"} else ""})

    found = _of(without, name)

    assert found.verdict is Verdict.WRONG
    assert "is not set" in found.detail
    assert found.fix


def test_the_secret_of_the_machine_that_ran_so_far_is_the_one_to_give_to_all(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("made at the first start")

    found = _of(msgspec.structs.replace(WHOLE, home=tmp_path, secret_key=""), "secret_key")

    assert str(tmp_path / "secrets" / "key") in found.fix


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("media_store", "/srv/photos"),
        ("media_store_cold", "file:///srv/cold"),
        ("postgres", ("postgresql://tintype:hush@db1,127.0.0.1:5433/tintype",)),
        ("postgres", ("postgresql:///tintype?host=/run/postgresql",)),
        ("redis", "unix:///run/valkey.sock"),
        ("nats", ("nats://[::1]:4222",)),
        ("mqtt_upstream", "localhost:1883"),
        ("trusted_proxies", ("127.0.0.0/8", "::1/128")),
        ("ranking_weights", "/etc/tintype/weights.toml"),
    ],
)
def test_what_may_be_one_machines_own_is_a_warning(name: str, value: object) -> None:
    found = _of(msgspec.structs.replace(WHOLE, **{name: value}), name)

    assert found.verdict is Verdict.WARNING
    assert "hush" not in str(found)


def test_live_connections_need_the_system_account_and_an_upstream() -> None:
    on = msgspec.structs.replace(WHOLE, realtime=True)

    assert _of(on, "nats_system").verdict is Verdict.WRONG
    assert _of(on, "mqtt_upstream").verdict is Verdict.WRONG


def test_fingerprints_agree_where_settings_agree_and_nowhere_else() -> None:
    elsewhere = msgspec.structs.replace(
        WHOLE, home=Path("/srv/tintype"), http_port=9_000, redis="redis://127.0.0.1:6379"
    )

    assert fingerprint(elsewhere) == fingerprint(WHOLE)
    for change in (
        {"secret_key": "b key"},
        {"vapid_key": "x"},
        {"media_store": "s3://other"},
        {"mail": "smtp://m"},
    ):
        assert fingerprint(msgspec.structs.replace(WHOLE, **change)) != fingerprint(WHOLE)
    assert fingerprint(msgspec.structs.replace(WHOLE, secret_key="")) == ""


def _of(settings: Settings, subject: str) -> Finding:
    return next(each for each in find_splits(settings) if each.subject == subject)
