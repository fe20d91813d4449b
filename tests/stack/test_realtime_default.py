"""Live connections by default: on with an embedded NATS server, off with one's own until they are asked for."""

from pathlib import Path

import pytest

from tintype.base.settings import Settings, load_settings
from tintype.stack import StackPlan, stack_plan
from tintype.stack.connections import Connections

OWN_NATS = {"TINTYPE_NATS": '["nats://u:p@nats1:4222"]'}


def plan_for(folder: Path, **environ: str) -> StackPlan:
    return stack_plan(load_settings(environ=environ, file=folder / "tintype.toml"))


def test_an_embedded_server_has_them_unless_they_are_turned_off(tmp_path: Path) -> None:
    assert plan_for(tmp_path).realtime
    assert plan_for(tmp_path, TINTYPE_REALTIME="auto").realtime
    assert not plan_for(tmp_path, TINTYPE_REALTIME="false").realtime
    assert (plan_for(tmp_path).mqtt_port, plan_for(tmp_path).mqtt_ws_port) == (0, 0)


def test_own_servers_have_them_when_they_are_turned_on(tmp_path: Path) -> None:
    assert not plan_for(tmp_path, **OWN_NATS).realtime
    assert plan_for(tmp_path, **OWN_NATS, TINTYPE_REALTIME="true").realtime


@pytest.mark.parametrize("is_on", [True, False])
def test_processes_are_told_what_was_decided(tmp_path: Path, is_on: bool) -> None:
    connections = Connections(
        home=tmp_path, postgres=(), redis="", nats=("nats://n",), realtime=is_on, http_port=8080
    )

    told = load_settings(environ=connections.environment(), file=tmp_path / "tintype.toml").settings

    assert (told.realtime, told.has_realtime) == (is_on, is_on)
    assert not Settings().has_realtime  # a process by itself, with servers of one's own
