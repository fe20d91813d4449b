"""The commands that concern replicas."""

import json

from replica_test_cluster import ReplicatedServer, run_command


async def test_replicas_are_added_removed_shown_and_checked(replicated: ReplicatedServer) -> None:
    address = f"127.0.0.1:{replicated.standbys[0].port}"

    assert await run_command(replicated.dsn, "remove-replica", "a", address) == (
        0,
        "server a has 1 replica, map version 6.\n",
    )
    code, said = await run_command(replicated.dsn, "remove-replica", "a", address)
    assert (code, "no replica at that address" in said) == (1, True)
    assert (await run_command(replicated.dsn, "add-replica", "a", address))[0] == 0
    await replicated.caught_up()

    _, shown = await run_command(replicated.dsn, "status", "--json")
    reports = json.loads(shown)["servers"][0]["replicas"]
    assert {(each["address"], each["is_standby"], each["timeline"] >= 0) for each in reports} == {
        (f"127.0.0.1:{standby.port}", True, True) for standby in replicated.standbys
    }
    assert address in (await run_command(replicated.dsn, "status"))[1]
    assert "replicas: 2 of a answer and follow it" in (await run_command(replicated.dsn, "doctor"))[1]
