from collections.abc import AsyncIterator

import pytest

from tests.accounts.helpers import Mailbox
from tintype.accounts.mailers import open_mailer
from tintype.wiring import Rooms


@pytest.fixture
async def mailbox(rooms: Rooms) -> AsyncIterator[Mailbox]:
    """Every mail ends up here."""
    box = Mailbox()
    rooms.accounts.use_mailer(box)
    yield box
    rooms.accounts.use_mailer(open_mailer(rooms.settings))
