"""Times as archives write them."""

import re
from datetime import UTC, datetime, timedelta

FIRST_PHOTO = datetime(1826, 1, 1, tzinfo=UTC)
MILLISECONDS = 10**11
"""Numbers from here on are milliseconds: as seconds they would lie in the year 5138."""
_CAMERA = re.compile(r"(\d{4}):(\d\d):(\d\d)[ T](\d\d):(\d\d):(\d\d)")
_IN_NAME = re.compile(r"(?<!\d)((?:19|20)\d\d)-?(\d\d)-?(\d\d)[-_ T]?(?:at )?(\d\d)[-.:]?(\d\d)[-.:]?(\d\d)")


def read_timestamp(value: object) -> datetime | None:
    """Seconds or milliseconds since 1970, as a number or a text; None for anything else, zero included."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value == 0:
        return None
    seconds = value / 1000 if abs(value) >= MILLISECONDS else value
    try:
        return plausible(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))
    except (OverflowError, ValueError):
        return None


def read_iso(value: object) -> datetime | None:
    """A time as ISO 8601 writes it; without a zone it is UTC."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    try:
        return plausible(found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC))
    except OverflowError:
        return None


def read_camera(value: object, offset: object = None) -> datetime | None:
    """A time as cameras write it (`2019:05:04 12:30:00`), with the offset from UTC if that is known."""
    match = _CAMERA.match(value) if isinstance(value, str) else None
    if match is None:
        return None
    zone = offset if isinstance(offset, str) and re.fullmatch(r"[+-]\d\d:\d\d", offset) else "+00:00"
    year, month, day, hour, minute, second = match.groups()
    return read_iso(f"{year}-{month}-{day}T{hour}:{minute}:{second}{zone}")


def read_name(name: str) -> datetime | None:
    """The time in a name that a phone gave (`IMG_20190504_123000.jpg`)."""
    match = _IN_NAME.search(name)
    return read_iso("{}-{}-{}T{}:{}:{}".format(*match.groups())) if match else None


def plausible(moment: datetime) -> datetime | None:
    """The time, unless it lies before the first photo or in the future."""
    return moment if FIRST_PHOTO <= moment <= datetime.now(UTC) else None
