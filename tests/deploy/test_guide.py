"""Everything under deploy/ is in the guide, and names settings that exist."""

import re

from tests.deploy.checkout import CHECKOUT, DEPLOY
from tintype.base.settings import PREFIX, Settings

OPERATING = (CHECKOUT / "docs" / "operating.md").read_text()
OF_CADDY = {"address", "web", "largest_body"}
"""Variables of deploy/Caddyfile itself."""


def test_every_folder_and_file_is_mentioned_in_the_guide() -> None:
    assert [each.name for each in sorted(DEPLOY.iterdir()) if f"deploy/{each.name}" not in OPERATING] == []


def test_every_variable_of_ours_is_a_setting() -> None:
    files = [each for each in DEPLOY.rglob("*") if each.is_file()]
    names = {
        name.removeprefix(PREFIX).lower()
        for each in files
        for name in re.findall(rf"\b{PREFIX}[A-Z0-9_]+", each.read_text())
    }

    assert names
    assert names - {*Settings.__struct_fields__, "config", *OF_CADDY} == set()
