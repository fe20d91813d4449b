"""Camera, lens and exposure: shown where the author opts in, for one post or by default, and never the location."""

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from PIL import ExifTags, Image

from tests.support import Person
from tintype.media.camera import Camera, describe_camera

WHOLE = {
    "camera": "Canon EOS R5",
    "lens": "RF35mm F1.8 MACRO IS STM",
    "focal_length_mm": 35.0,
    "aperture": 2.8,
    "exposure_s": 0.004,
    "iso": 400,
}


def camera_photo() -> bytes:
    """A photo with the settings of a camera, and with a location."""
    exif = Image.Exif()
    exif[ExifTags.Base.Make] = "Canon"
    exif[ExifTags.Base.Model] = "Canon EOS R5"
    details = exif.get_ifd(ExifTags.IFD.Exif)
    details[ExifTags.Base.LensModel] = "RF35mm F1.8 MACRO IS STM"
    details[ExifTags.Base.FocalLength] = 35.0
    details[ExifTags.Base.FNumber] = 2.8
    details[ExifTags.Base.ExposureTime] = 0.004
    details[ExifTags.Base.ISOSpeedRatings] = 400
    details[ExifTags.Base.BodySerialNumber] = "0123456789"
    gps = exif.get_ifd(ExifTags.IFD.GPSInfo)
    gps[ExifTags.GPS.GPSLatitudeRef], gps[ExifTags.GPS.GPSLatitude] = "N", (52.0, 31.0, 12.0)
    gps[ExifTags.GPS.GPSLongitudeRef], gps[ExifTags.GPS.GPSLongitude] = "E", (13.0, 24.0, 18.0)
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((640, 480)).convert("RGB").save(buffer, "JPEG", exif=exif)
    return buffer.getvalue()


async def publish(person: Person, **fields: Any) -> dict[str, Any]:
    uploaded = (await person.upload(camera_photo())).json()
    assert uploaded["camera"] == WHOLE
    body = {"media_ids": [uploaded["media_id"]], **fields}
    answer = await person.call("POST", "/posts", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def seen_by(viewer: Person, post: dict[str, Any]) -> Any:
    return (await viewer.call("GET", f"/posts/{post['post_id']}")).json()["media"][0]["camera"]


async def test_nothing_is_shown_unless_the_author_opts_in(ana: Person, bo: Person) -> None:
    silent, telling = await publish(ana), await publish(ana, shows_camera=True)

    assert (silent["shows_camera"], silent["media"][0]["camera"]) == (False, None)
    assert (telling["shows_camera"], telling["media"][0]["camera"]) == (True, WHOLE)
    assert await seen_by(bo, silent) is None
    assert await seen_by(bo, telling) == WHOLE
    answer = await bo.call("GET", f"/posts/{telling['post_id']}")
    for private in ("52.5", "13.4", "0123456789", "latitude"):
        assert private not in answer.text


async def test_the_account_decides_for_posts_that_do_not_say_and_a_post_can_be_changed(
    ana: Person, bo: Person
) -> None:
    changed = await ana.call("PATCH", "/accounts/me", json={"shows_camera": True})
    assert changed.json()["shows_camera"] is True
    by_default, not_this_one = await publish(ana), await publish(ana, shows_camera=False)
    assert await seen_by(bo, by_default) == WHOLE
    assert await seen_by(bo, not_this_one) is None

    await ana.call("PATCH", f"/posts/{by_default['post_id']}", json={"shows_camera": False})
    assert await seen_by(bo, by_default) is None
    kept = await ana.call("PATCH", f"/posts/{not_this_one['post_id']}", json={"caption": "still silent"})
    assert kept.json()["shows_camera"] is False


async def test_a_scheduled_post_shows_it_as_its_author_chose(ana: Person, bo: Person) -> None:
    media_id = (await ana.upload(camera_photo())).json()["media_id"]
    publish_at = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    body = {"media_ids": [media_id], "publish_at": publish_at, "shows_camera": True}
    made = (await ana.call("POST", "/scheduled-posts", json=body)).json()
    post = (await ana.call("POST", f"/scheduled-posts/{made['scheduled_id']}/publish")).json()

    assert made["shows_camera"] is True
    assert await seen_by(bo, post) == WHOLE


@pytest.mark.parametrize(
    ("exif", "expected"),
    [
        ({}, None),
        ({"Make": "FUJIFILM", "Model": "X-T5"}, Camera(camera="FUJIFILM X-T5")),
        ({"Make": "NIKON CORPORATION", "Model": "NIKON Z 6"}, Camera(camera="NIKON Z 6")),
        ({"Make": "Canon", "Model": "  "}, None),
        ({"FNumber": 0, "ISO": -1, "ExposureTime": 1e9, "FocalLength": "long"}, None),
        ({"ISO": 200, "Model": "x" * 200}, Camera(camera="x" * 80, iso=200)),
    ],
)
def test_what_a_camera_wrote_is_tidied(exif: dict[str, Any], expected: Camera | None) -> None:
    assert describe_camera(exif) == expected
