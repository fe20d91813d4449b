import time
from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest

from tests.accounts.helpers import Mailbox
from tintype.accounts import totp
from tintype.accounts.mailers import open_mailer
from tintype.wiring import Rooms


@pytest.fixture(autouse=True)
def one_moment_for_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of one-time codes stands still: no half minute ends between making a code and sending it."""
    moment = time.time()
    monkeypatch.setattr(totp, "time", SimpleNamespace(time=lambda: moment))


@pytest.fixture
async def mailbox(rooms: Rooms) -> AsyncIterator[Mailbox]:
    """Every mail ends up here."""
    box = Mailbox()
    rooms.accounts.use_mailer(box)
    yield box
    rooms.accounts.use_mailer(open_mailer(rooms.settings))
