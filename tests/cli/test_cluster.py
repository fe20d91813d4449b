"""`tintype cluster check` on real engines: fine where everything is set, and exit code 1 where a site would split."""

import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from typer.testing import CliRunner, Result

from tintype.base.settings import Settings
from tintype.cli.entry import build_app

APP = build_app(["cluster"])
Check = Callable[..., Result]


@pytest.fixture
def mail() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Controller(Sink(), hostname="127.0.0.1", port=port)
    server.start()
    yield f"smtp://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def check(settings: Settings, mail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run the command with settings of a whole cluster, and changes to them."""
    whole: dict[str, Any] = {
        "config": str(tmp_path / "tintype.toml"),
        "home": str(tmp_path),
        "postgres": json.dumps(settings.postgres),
        "redis": settings.redis,
        "nats": json.dumps(settings.nats),
        "namespace": settings.namespace,
        "secret_key": "the same on all machines",
        "vapid_key": "likewise",
        "mail": mail,
        "media_store": str(tmp_path / "shared"),
        "public_url": "https://photos.example.org",
        "trusted_proxies": "10.0.0.0/8",
    }

    def run(*arguments: str, **changes: str) -> Result:
        for name, value in {**whole, **changes}.items():
            monkeypatch.setenv(f"TINTYPE_{name.upper()}", value)
        return CliRunner().invoke(APP, ["cluster", "check", *arguments])

    return run


def test_a_whole_cluster_passes_and_prints_a_fingerprint(check: Check) -> None:
    result = check("--json")

    report = json.loads(result.output)
    verdicts = {each["subject"]: each["verdict"] for each in report["findings"]}
    assert result.exit_code == 0, report
    assert verdicts["clocks"] == "ok"
    assert verdicts["PostgreSQL versions"] == "ok"
    assert verdicts["media store (hot)"] == "ok"
    assert verdicts["mail server"] == "ok"
    assert verdicts["standbys of pg1"] == "warning"
    assert verdicts["logical shards"] == "warning"
    assert len(report["fingerprint"]) == 12


def test_the_fingerprint_of_another_machine_must_be_the_same(check: Check) -> None:
    code = json.loads(check("--json").output)["fingerprint"]

    assert check("--expect", code).exit_code == 0
    other = check("--expect", code, secret_key="another")
    assert other.exit_code == 1
    assert code in other.output


def test_what_would_split_the_site_fails_the_check_and_says_how_to_fix_it(check: Check) -> None:
    result = check(media_store="", mail="", secret_key="")

    assert result.exit_code == 1
    assert "3 to fix" in result.output
    for fix in ("TINTYPE_SECRET_KEY", "s3://bucket/prefix", "smtp://user:password@host:587"):
        assert fix in result.output


def test_an_engine_that_is_away_and_a_store_that_refuses_fail_the_check(check: Check, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    result = check(
        "--json",
        redis="redis://:hush@127.0.0.1:9/0",
        mail="smtp://127.0.0.1:9",
        media_store=str(tmp_path / "file" / "below"),
    )

    wrong = {each["subject"] for each in json.loads(result.output)["findings"] if each["verdict"] == "wrong"}
    assert result.exit_code == 1
    assert wrong == {"Redis 127.0.0.1:9", "mail server", "media store"}
    assert "hush" not in result.output
