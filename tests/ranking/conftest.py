"""Everybody is outside of every experiment, so that numbers do not depend on whose id fell where."""

import pytest

from tintype.wiring import Rooms


@pytest.fixture(autouse=True)
def usual_weights(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "rooms" in request.fixturenames:
        rooms: Rooms = request.getfixturevalue("rooms")
        monkeypatch.setattr(rooms.ranking.experiments, "_forced", {"feed-order": ""})
