"""Who may open a file does not depend on the store it lies in: here one installation, its media in a directory."""

import pytest

from tests.media.conftest import MakeInstallation
from tintype.wiring import Rooms


@pytest.fixture
def installation(make_installation: MakeInstallation) -> Rooms:
    """The installation, its media in a directory."""
    return make_installation()
