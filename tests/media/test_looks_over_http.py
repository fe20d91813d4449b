"""The looks over HTTP, from the list to an edited photo."""

import json

from tests.support import Person, photo


async def test_every_look_is_listed_with_a_table_that_may_be_kept(ana: Person) -> None:
    listed = (await ana.client.get("/api/v1/media/looks")).json()["looks"]

    strips = [await ana.client.get(look["strip"]) for look in listed]

    assert len(listed) >= 20
    assert {answer.headers["content-type"] for answer in strips} == {"image/png"}
    assert all("immutable" in answer.headers["cache-control"] for answer in strips)
    assert (await ana.client.get("/looks/nothing-123.png")).status_code == 404


async def test_a_look_changes_the_photo_by_edit_and_by_filter_id(ana: Person) -> None:
    look = (await ana.client.get("/api/v1/media/looks")).json()["looks"][0]["look_id"]
    made: list[bytes] = []
    for fields in ({}, {"edit": json.dumps({"look": look})}, {"filter_id": look}):
        files = {"file": ("a.jpg", photo(), "image/jpeg")}
        body = (await ana.call("POST", "/media/upload", files=files, data=fields)).json()
        made.append((await ana.client.get(body["urls"]["320"], headers={"Accept": "*/*"})).content)

    assert made[0] != made[1]
    assert made[1] == made[2]
