"""The compose file names what exists, and its settings make a site that is whole."""

import re
from typing import Any

import yaml

from tests.deploy.checkout import CHECKOUT, DEPLOY, read_env, substitute
from tintype.base.settings import PREFIX, load_settings
from tintype.cli.entry import COMMANDS
from tintype.stack import Verdict, find_splits

FOLDER = DEPLOY / "compose"
TEXT = (FOLDER / "compose.yaml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICE_KEYS = {
    *("image", "build", "restart", "environment", "volumes", "depends_on", "command", "healthcheck"),
    *("deploy", "stop_grace_period", "shm_size", "ports"),
}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}
INSTRUCTIONS = {"FROM", "RUN", "COPY", "WORKDIR", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}


def test_every_key_is_one_of_composes_and_names_lead_somewhere() -> None:
    services = COMPOSE["services"]
    assert {key for key in COMPOSE if not key.startswith("x-")} == {"name", "services", "volumes"}
    for name, service in services.items():
        assert set(service) <= SERVICE_KEYS, name
        for other, how in service.get("depends_on", {}).items():
            assert other in services, name
            assert set(how) == {"condition"}
            assert how["condition"] in CONDITIONS
            assert how["condition"] != "service_healthy" or "healthcheck" in services[other]
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert (FOLDER / source).exists() if source.startswith(".") else source in COMPOSE["volumes"], (
                name
            )
        assert "build" in service or ":" in service["image"], f"{name} has no version"


def test_what_is_built_is_there_and_its_commands_exist() -> None:
    build = COMPOSE["services"]["web"]["build"]
    context = (FOLDER / build["context"]).resolve()
    assert context == CHECKOUT
    assert (context / build["dockerfile"]).exists()
    ours = [service for service in COMPOSE["services"].values() if "build" in service]
    assert {service["command"][0] for service in ours} == {"web", "worker", "migrate"} <= set(COMMANDS)


def test_the_image_is_made_by_known_instructions_and_from_this_checkouts_script() -> None:
    joined = (FOLDER / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]

    assert {line.split()[0] for line in lines} <= INSTRUCTIONS
    assert lines[0].startswith("FROM python:3.11-")
    assert "./tintype build-web" in joined
    assert 'command == "build-web"' in (CHECKOUT / "tintype").read_text()
    ignored = (FOLDER / "Dockerfile.dockerignore").read_text().split()
    assert {".tintype", ".venv", "tintype.toml", "**/*.env"} <= set(ignored)


def test_every_variable_is_in_the_example_and_none_is_there_in_vain() -> None:
    assert set(re.findall(r"\$\{(\w+)", TEXT)) == set(read_env(FOLDER / "example.env"))


def test_its_settings_are_valid_and_split_nothing() -> None:
    example = {name: value or "filled-in" for name, value in read_env(FOLDER / "example.env").items()}
    for name in ("web", "migrate"):
        environ = {
            key: substitute(value, example) for key, value in COMPOSE["services"][name]["environment"].items()
        }
        assert all(key.startswith(PREFIX) for key in environ)
        settings = load_settings(environ={**environ, "TINTYPE_CONFIG": "/nonexistent/tintype.toml"}).settings

        assert [each for each in find_splits(settings) if each.verdict is Verdict.WRONG] == []
        assert settings.shard_count >= 512
        assert len(settings.postgres) == 2
