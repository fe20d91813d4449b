"""A store is proven by an object that is written, read and deleted; whatever it refuses is named."""

import msgspec
import pytest

from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings
from tintype.media import open_store, probe_stores
from tintype.media.storage.object_storage import INCOMING
from tintype.wiring import Rooms


async def test_a_store_that_works_has_no_problem_and_keeps_nothing(installation: Rooms) -> None:
    assert await probe_stores(installation.settings) == {"hot": ""}

    left = [each async for each in installation.media.storage.list_objects(f"{INCOMING}/probe-")]
    assert left == []


async def test_a_store_that_is_away_says_why(installation: Rooms) -> None:
    away = msgspec.structs.replace(
        installation.settings,
        media_store="s3://nowhere/prefix",
        media_s3_endpoint="http://127.0.0.1:9",
        media_s3_access_key="key",
        media_s3_secret_key="hush",
    )

    problem = (await probe_stores(away))["hot"]

    assert problem
    assert "hush" not in problem


@pytest.mark.parametrize("url", ["s3://", "s3:///prefix"])
def test_an_address_of_s3_names_a_bucket(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="names no bucket"):
        open_store(Settings(), url)
