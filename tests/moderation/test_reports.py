"""Reports, the queue and decisions about accounts, over HTTP."""

import asyncio
from typing import Any

import pytest
from httpx import AsyncClient

from tests.moderation.support import appoint, decide, get_case, handle, id_of, list_cases, report
from tests.support import Person, eventually, join
from tintype.moderation import QUERIES, CaseDecided
from tintype.moderation.reportable_objects import ReportableObjects
from tintype.wiring import QUERIES as EVERY_ROOMS_QUERIES
from tintype.wiring import Rooms
from tintype.worker import Worker

AHEAD_S = 0.03
"""A shard that was busy makes ids up to 17 ms ahead of the clock (ADR 3), so two shards need this to agree on order."""


@pytest.fixture
async def mia(rooms: Rooms, client: AsyncClient) -> Person:
    return await appoint(rooms, client, "mia")


async def test_reporting_twice_counts_once_and_never_shows_the_reporter(
    ana: Person, bo: Person, mia: Person
) -> None:
    for _ in range(2):
        answer = await report(ana, "account", bo.account_id, note=" He sells things. ")
        assert answer.status_code == 204

    (case,) = await list_cases(mia)
    assert (case["report_count"], case["owner"]["username"], case["status"]) == (1, "bo", "open")
    shown = await get_case(mia, case)
    assert shown["reasons"] == {"spam": 1}
    assert [(each["reason"], each["note"]) for each in shown["complaints"]] == [("spam", "He sells things.")]
    assert ana.account_id not in str(shown)
    assert "'ana'" not in str(shown)


@pytest.mark.slow
async def test_concurrent_reports_make_one_case_with_the_right_count(
    client: AsyncClient, bo: Person, mia: Person
) -> None:
    people = [await join(client, f"person{number}") for number in range(8)]

    await asyncio.gather(*(report(each, "account", bo.account_id) for each in people for _ in range(2)))

    assert [each["report_count"] for each in await list_cases(mia)] == [8]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"note": "x" * 1001}, "text_too_long"),
        ({"reason": "boredom"}, "invalid"),
        ({"kind": "planet"}, "invalid"),
        ({"object_id": "9" * 19}, "id_invalid"),
        ({"note": "a\x00b"}, "text_invalid"),
    ],
)
async def test_invalid_reports_are_refused(ana: Person, bo: Person, body: dict[str, Any], code: str) -> None:
    answer = await report(ana, **{"kind": "account", "object_id": bo.account_id, **body})

    assert (answer.status_code, answer.json()["code"]) == (400, code)


async def test_invisible_objects_and_ones_own_cannot_be_reported(ana: Person, bo: Person) -> None:
    missing = await report(ana, "account", str(int(bo.account_id) + 1))
    own = await report(ana, "account", ana.account_id)

    assert (missing.status_code, missing.json()["code"]) == (404, "object_not_found")
    assert (own.status_code, own.json()["code"]) == (400, "own_object")


@pytest.mark.slow
async def test_reporting_is_rate_limited(rooms: Rooms, ana: Person, bo: Person) -> None:
    answers = [await report(ana, "account", bo.account_id) for _ in range(31)]

    assert (answers[-1].status_code, answers[-1].json()["code"]) == (429, "rate_limited")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/moderation/cases", None),
        ("POST", "/moderation/cases", {"kind": "account", "object_id": "5", "reason": "x"}),
        ("GET", "/moderation/cases/5", None),
        ("PUT", "/moderation/cases/5/claim", {}),
        ("DELETE", "/moderation/cases/5/claim", None),
        ("POST", "/moderation/cases/5/acts", {"action": "dismiss", "reason": "x"}),
        ("GET", "/moderation/log", None),
    ],
)
async def test_the_queue_does_not_exist_for_people_who_are_not_moderators(
    ana: Person, method: str, path: str, body: dict[str, Any] | None
) -> None:
    answer = await ana.call(method, path, json=body)
    nowhere = await ana.call("GET", "/there/is/nothing/here")

    assert answer.status_code == 404
    assert {**answer.json(), "request_id": ""} == {**nowhere.json(), "request_id": ""}


@pytest.mark.slow
async def test_the_queue_is_ordered_filtered_and_paged_over_all_partitions(
    client: AsyncClient, mia: Person
) -> None:
    people = [await join(client, f"person{number}") for number in range(7)]
    for count, target in enumerate(people):
        for by in people[:count]:
            await report(by, "account", target.account_id)
        await asyncio.sleep(AHEAD_S)  # the cases lie on several desks, whose ids may run ahead of the clock

    oldest = [each["owner"]["username"] for each in await list_cases(mia)]
    assert oldest == [f"person{number}" for number in range(1, 7)]

    seen: list[int] = []
    cursor = None
    while True:
        params = {"order": "most_reported", "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await mia.call("GET", "/moderation/cases", params=params)).json()
        seen += [each["report_count"] for each in page["cases"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [6, 5, 4, 3, 2, 1]
    assert await list_cases(mia, kind="post") == []
    assert await list_cases(mia, status="closed") == []


async def test_an_invented_cursor_is_refused(mia: Person) -> None:
    for cursor in ("nonsense", "MjpbMSwyLDNd", "MToxMg"):
        answer = await mia.call("GET", "/moderation/cases", params={"cursor": cursor})
        assert (answer.status_code, answer.json()["code"]) == (400, "cursor_invalid")


async def test_a_claimed_case_cannot_be_decided_by_others(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person, mia: Person
) -> None:
    max_, olga = await appoint(rooms, client, "max"), await appoint(rooms, client, "olga", "operator")
    await report(ana, "account", bo.account_id)
    (case,) = await list_cases(mia)
    claim = f"/moderation/cases/{case['case_id']}/claim"

    assert (await mia.call("PUT", claim, json={})).json()["claimed_by"]["username"] == "mia"
    refused = [await max_.call("PUT", claim, json={}), await decide(max_, case, "dismiss")]
    assert [each.json()["code"] for each in refused] == ["case_claimed"] * 2
    assert len(await list_cases(mia, mine=True)) == 1
    assert await list_cases(max_, free=True) == []

    moved = await olga.call("PUT", claim, json={"moderator_id": max_.account_id})
    assert moved.json()["claimed_by"]["username"] == "max"
    no_moderator = await olga.call("PUT", claim, json={"moderator_id": ana.account_id})
    assert no_moderator.status_code == 404
    assert (await max_.call("DELETE", claim)).json()["claimed_by"] is None
    assert (await decide(mia, case, "dismiss")).json()["status"] == "closed"


async def test_a_suspension_ends_every_session_at_once_and_can_be_lifted(
    rooms: Rooms, ana: Person, bo: Person, mia: Person
) -> None:
    await report(ana, "account", bo.account_id)
    (case,) = await list_cases(mia)

    answer = await decide(mia, case, "suspend")

    assert (answer.json()["object_state"], answer.json()["outcome"]) == ("suspended", "suspended")
    assert (await bo.call("GET", "/accounts/me")).status_code == 401
    assert (await rooms.accounts.get(id_of(bo))).status == "suspended"
    await decide(mia, case, "unsuspend")
    assert (await rooms.accounts.get(id_of(bo))).status == "active"


async def test_events_of_old_decisions_that_arrive_late_and_twice_do_not_undo_newer_ones(
    rooms: Rooms, ana: Person, bo: Person, mia: Person
) -> None:
    await report(ana, "account", bo.account_id)
    (case,) = await list_cases(mia)
    await decide(mia, case, "suspend")
    await decide(mia, case, "unsuspend")

    late = CaseDecided(int(case["case_id"]), 1, "suspend", id_of(bo), id_of(mia))
    for _ in range(2):
        await handle(rooms, late)

    assert (await rooms.accounts.get(id_of(bo))).status == "active"


async def test_a_decision_whose_effect_failed_is_applied_by_the_worker(
    working: Worker, rooms: Rooms, ana: Person, bo: Person, mia: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await report(ana, "account", bo.account_id)
    (case,) = await list_cases(mia)
    apply_state, failures = ReportableObjects.apply_state, [OSError("the shard is unavailable")]

    async def fail_once(*args: Any) -> None:
        if failures:
            raise failures.pop()
        await apply_state(*args)

    monkeypatch.setattr(ReportableObjects, "apply_state", fail_once)
    assert (await decide(mia, case, "suspend")).status_code == 201

    async def is_suspended() -> bool:
        return (await rooms.accounts.get(id_of(bo))).status == "suspended"

    await eventually(is_suspended, what="the worker suspends the account")


async def test_a_warning_is_notified_once_and_can_be_appealed_against_once(
    rooms: Rooms, ana: Person, bo: Person, mia: Person
) -> None:
    await report(ana, "account", bo.account_id)
    (case,) = await list_cases(mia)
    await decide(mia, case, "warn")
    entry = (await get_case(mia, case))["history"][-1]
    act_id = int(entry["entry_id"])
    await handle(rooms, CaseDecided(int(case["case_id"]), act_id, "warn", id_of(bo), id_of(mia)))

    (line,) = (await bo.call("GET", "/notifications")).json()["notifications"]
    assert (line["kind"], line["actors"], line["object_id"]) == ("warning", [], case["case_id"])
    (decision,) = (await bo.call("GET", "/decisions")).json()["decisions"]
    assert (decision["outcome"], decision["may_appeal"]) == ("warned", True)
    assert mia.account_id not in str(decision)

    path = f"/decisions/{case['case_id']}/appeal"
    assert (await ana.call("POST", path, json={"text": "x"})).status_code == 404
    assert (await bo.call("POST", path, json={"text": "It was a joke."})).status_code == 204
    again = await bo.call("POST", path, json={"text": "Really."})
    assert (again.status_code, again.json()["code"]) == (409, "appeal_closed")
    assert [each["appeal"] for each in await list_cases(mia, appealed=True)] == ["It was a joke."]


async def test_a_dismissed_report_is_not_shown_to_the_owner_and_a_new_one_reopens_the_case(
    client: AsyncClient, ana: Person, bo: Person, mia: Person
) -> None:
    await report(ana, "account", bo.account_id)
    (case,) = await list_cases(mia)
    await decide(mia, case, "dismiss")

    assert (await bo.call("GET", "/decisions")).json() == {"decisions": []}
    assert (
        await bo.call("POST", f"/decisions/{case['case_id']}/appeal", json={"text": "x"})
    ).status_code == 404
    await report(ana, "account", bo.account_id)
    assert await list_cases(mia) == []
    await report(await join(client, "cleo"), "account", bo.account_id)
    assert [(each["case_id"], each["report_count"]) for each in await list_cases(mia)] == [
        (case["case_id"], 1)
    ]


async def test_nobody_decides_their_own_case_and_only_operators_those_of_moderators(
    rooms: Rooms, client: AsyncClient, ana: Person, mia: Person
) -> None:
    max_, olga = await appoint(rooms, client, "max"), await appoint(rooms, client, "olga", "operator")
    await report(ana, "account", mia.account_id)
    (case,) = await list_cases(mia)

    codes = [(await decide(person, case, "warn")).json().get("code") for person in (mia, max_, olga)]

    assert codes == ["own_case", "rank_too_low", None]


async def test_a_decision_needs_a_reason_and_an_action_that_the_object_allows(
    ana: Person, bo: Person, mia: Person
) -> None:
    await report(ana, "account", bo.account_id)
    (case,) = await list_cases(mia)

    silent, unsuitable = await decide(mia, case, "warn", "  "), await decide(mia, case, "hide")
    nowhere = await mia.call("GET", f"/moderation/cases/{int(case['case_id']) + 1}")

    assert (silent.json()["code"], unsuitable.json()["code"]) == ("text_missing", "action_unsuitable")
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "case_not_found")


async def test_every_act_is_in_the_log_with_the_state_before_and_after(
    rooms: Rooms, client: AsyncClient, bo: Person, mia: Person
) -> None:
    max_ = await appoint(rooms, client, "max")
    opened = await mia.call(
        "POST",
        "/moderation/cases",
        json={"kind": "account", "object_id": bo.account_id, "reason": "Odd name"},
    )
    case = opened.json()
    await mia.call("PUT", f"/moderation/cases/{case['case_id']}/claim", json={})
    await decide(mia, case, "note", "Asked a colleague")
    await decide(mia, case, "suspend", "Impersonates somebody")
    await decide(max_, case, "unsuspend", "Was the person themselves")

    entries = (await mia.call("GET", "/moderation/log")).json()["entries"]
    assert [each["action"] for each in entries] == ["unsuspend", "suspend", "note", "claim", "open"]
    suspended = entries[1]
    assert (suspended["moderator"]["username"], suspended["reason"]) == ("mia", "Impersonates somebody")
    assert (suspended["before"]["object_state"], suspended["after"]["object_state"]) == (
        "visible",
        "suspended",
    )
    of_max = await mia.call("GET", "/moderation/log", params={"moderator_id": max_.account_id})
    assert [each["action"] for each in of_max.json()["entries"]] == ["unsuspend"]
    page = (await mia.call("GET", "/moderation/log", params={"limit": 3})).json()
    rest = (
        await mia.call("GET", "/moderation/log", params={"limit": 3, "cursor": page["next_cursor"]})
    ).json()
    assert [*page["entries"], *rest["entries"]] == entries


async def test_no_query_of_any_room_changes_or_deletes_log_entries(mia: Person) -> None:
    touching = [query for room in EVERY_ROOMS_QUERIES for query in room if "moderation_acts" in query.sql]
    words = {word for query in touching if query.writes for word in query.sql.lower().split()}

    assert [query.name for query in touching if query.writes] == ["add_log_entry"]
    assert words.isdisjoint({"update", "delete", "truncate", "merge"})
    for method in ("PUT", "PATCH", "DELETE", "POST"):
        for path in ("/moderation/log", "/moderation/log/5", "/moderation/cases/5/acts/5"):
            assert (await mia.call(method, path, json={})).status_code in {404, 405}


async def test_erasing_an_account_leaves_no_name_and_no_text_in_reports(
    rooms: Rooms, ana: Person, bo: Person, mia: Person
) -> None:
    await report(ana, "account", bo.account_id, note="He sells things.")
    await report(bo, "account", ana.account_id, note="She lies.")
    records = [each async for each in rooms.moderation.personal_data.export(id_of(ana))]
    assert [(each.file, each.content["note"]) for each in records] == [("reports.json", "He sells things.")]

    while await rooms.moderation.personal_data.erase(id_of(ana)):
        pass

    assert await rooms.moderation.personal_data.count_left(id_of(ana)) == 0
    (case,) = await list_cases(mia)
    shown = await get_case(mia, case)
    assert (case["owner"]["username"], case["report_count"]) == ("bo", 1)
    assert [(each["reason"], each["note"]) for each in shown["complaints"]] == [("spam", "")]
    about_ana = (await list_cases(mia, status="closed"))[0]
    assert about_ana["evidence_text"] == ""
    rows = await rooms.shards.everywhere().fetch(
        QUERIES.find_own_report, kind="account", object_id=id_of(bo), reporter_id=id_of(ana)
    )
    assert rows.complete() == []
