"""Nobody takes part in an experiment, so that scores do not depend on the arm that an id hashes to."""

import pytest

from tintype.wiring import Rooms


@pytest.fixture(autouse=True)
def default_weights(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "rooms" in request.fixturenames:
        rooms: Rooms = request.getfixturevalue("rooms")
        monkeypatch.setattr(rooms.ranking.experiments, "_forced", {"feed-order": ""})
