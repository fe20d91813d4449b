"""The Kubernetes manifests fit the schemas of Kubernetes, strictly, and their settings make a site that is whole."""

from pathlib import Path
from typing import Any

import kubernetes_validate  # pyright: ignore[reportMissingTypeStubs] - it has no types
import pytest
import yaml

from tests.deploy.checkout import DEPLOY, find_program, read_env, run_check
from tintype.base.settings import PREFIX, Settings, load_settings
from tintype.cli.entry import COMMANDS
from tintype.stack import Verdict, find_splits

FOLDER = DEPLOY / "kubernetes"
PRODUCTION = FOLDER / "overlays" / "production"
MANIFESTS = sorted(each for each in FOLDER.rglob("*.yaml") if each.name != "kustomization.yaml")
KUSTOMIZATION_KEYS = {
    *(
        "apiVersion",
        "kind",
        "namespace",
        "labels",
        "resources",
        "images",
        "configMapGenerator",
        "replicas",
        "patches",
    ),
}


def read_all(text: str) -> list[dict[str, Any]]:
    """The resources of a file."""
    return list(yaml.safe_load_all(text))


def validate(resource: dict[str, Any]) -> None:
    """Raise unless every field is known to Kubernetes and has the right type."""
    kubernetes_validate.validate(resource, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: each.name)
def test_a_manifest_fits_the_schema_strictly(manifest: Path) -> None:
    resources = read_all(manifest.read_text())

    assert resources
    for each in resources:
        validate(each)


def test_a_field_that_does_not_exist_is_noticed() -> None:
    (deployment,) = read_all((FOLDER / "base" / "worker.yaml").read_text())
    deployment["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"

    with pytest.raises(kubernetes_validate.ValidationError):
        validate(deployment)


def test_kustomizations_list_every_manifest_beside_them_and_can_be_built() -> None:
    for kustomization in FOLDER.rglob("kustomization.yaml"):
        (found,) = read_all(kustomization.read_text())
        beside = {each.name for each in kustomization.parent.glob("*.yaml")} - {"kustomization.yaml"}
        assert set(found) <= KUSTOMIZATION_KEYS
        assert {each for each in found["resources"] if each.endswith(".yaml")} == beside
        assert all((kustomization.parent / each).exists() for each in found["resources"])
    kubectl = find_program("kubectl")
    for each in read_all(run_check(kubectl, "kustomize", str(PRODUCTION))) if kubectl else ():
        validate(each)


def test_selectors_find_their_pods_and_containers_run_commands_that_exist() -> None:
    resources = [each for manifest in MANIFESTS for each in read_all(manifest.read_text())]
    pods = [
        each["spec"]["template"]
        for each in resources
        if "template" in each["spec" if "spec" in each else "kind"]
    ]
    labels = [each["metadata"]["labels"] for each in pods]
    for each in resources:
        selector = each.get("spec", {}).get("selector")
        if selector is not None:
            assert selector.get("matchLabels", selector) in labels, each["metadata"]["name"]
    containers = [container for pod in pods for container in pod["spec"]["containers"]]
    assert {container["args"][0] for container in containers} == {"web", "worker", "migrate"} <= set(COMMANDS)
    names = {
        each["name"].removeprefix(PREFIX).lower()
        for container in containers
        for each in container.get("env", ())
    }
    assert names <= set(Settings.__struct_fields__)


def test_the_settings_of_the_overlay_are_valid_and_split_nothing() -> None:
    secrets = {
        "TINTYPE_SECRET_KEY": "a key",
        "TINTYPE_VAPID_KEY": "a key",
        "TINTYPE_POSTGRES": '["postgresql://tintype_runtime:hush@db1a,db1b/tintype"]',
        "TINTYPE_REDIS": "redis://:hush@valkey:6379/0",
        "TINTYPE_NATS": '["nats://tintype:hush@nats:4222"]',
        "TINTYPE_MAIL": "smtp://mail:587",
    }
    head = (PRODUCTION / "kustomization.yaml").read_text()
    environ = {
        **read_env(PRODUCTION / "settings.env"),
        **secrets,
        "TINTYPE_CONFIG": "/nonexistent/tintype.toml",
    }

    settings = load_settings(environ=environ).settings

    assert all(name in head for name in secrets), "the comment names every secret"
    assert {each.verdict for each in find_splits(settings)} == {Verdict.OK}
    assert settings.shard_count >= 512
