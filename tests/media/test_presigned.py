"""Uploads straight into the store: only what was announced, and only with S3."""

import secrets

import httpx
import pytest

from tests.media.conftest import MakeInstallation, visiting
from tests.media.s3 import S3
from tests.media.support import paths_in
from tests.support import Person, photo

pytestmark = pytest.mark.usefixtures("real_pipeline")

CONTENT = photo(900, 700)
ASKED = {"size_bytes": len(CONTENT), "content_type": "image/jpeg"}


async def put(asked: dict[str, str], content: bytes, **headers: str) -> int:
    """Put bytes as a browser would: to another host, without our credentials."""
    async with httpx.AsyncClient() as outside:
        answer = await outside.put(
            asked["url"], content=content, headers={"Content-Type": "image/jpeg", **headers}
        )
    return answer.status_code


async def test_without_s3_there_is_nothing_to_presign(ana: Person) -> None:
    answer = await ana.call("POST", "/media/presigned", json=ASKED)

    assert (answer.status_code, answer.json()["code"]) == (409, "presigned_unavailable")


@pytest.mark.slow
async def test_a_file_put_into_the_store_becomes_media(make_installation: MakeInstallation, s3: S3) -> None:
    installation = make_installation(**s3.settings(secrets.token_hex(4)))
    async with visiting(installation, "eve") as eve:
        asked = (await eve.call("POST", "/media/presigned", json=ASKED)).json()
        complete = f"/media/presigned/{asked['media_id']}/complete"

        early = await eve.call("POST", complete)
        longer = await put(asked["upload"], CONTENT + b"x")
        other_type = await put(asked["upload"], CONTENT, **{"Content-Type": "text/html"})
        right = await put(asked["upload"], CONTENT)
        made = await eve.call("POST", complete)
        again = await eve.call("POST", complete)

        assert (early.status_code, early.json()["code"]) == (409, "upload_incomplete")
        assert (longer, other_type, right) == (403, 403, 200)
        assert made.status_code == 201
        assert made.json() == again.json()
        assert made.json()["width"] == 900
        assert (await eve.client.get(made.json()["urls"]["320"])).status_code == 200
        assert not [path for path in await paths_in(installation) if path.startswith("incoming/")]


@pytest.mark.slow
async def test_a_presigned_upload_is_its_senders_and_a_bad_file_is_refused(
    make_installation: MakeInstallation, s3: S3
) -> None:
    installation = make_installation(**s3.settings(secrets.token_hex(4)))
    async with visiting(installation, "eve") as eve, visiting(installation, "mo") as mo:
        bad = b"no photo " * 50
        asked = (await eve.call("POST", "/media/presigned", json={**ASKED, "size_bytes": len(bad)})).json()
        await put(asked["upload"], bad)
        complete = f"/media/presigned/{asked['media_id']}/complete"

        foreign = await mo.call("POST", complete)
        refused = await eve.call("POST", complete)

        assert foreign.status_code == 404
        assert (refused.status_code, refused.json()["code"]) == (400, "media_unsupported")
        assert await paths_in(installation) == []
