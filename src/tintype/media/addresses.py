"""Where files are served, and the signatures that open those of private accounts.

The signature is a part of the path and covers the folder, so that relative names inside a playlist keep working.
Its end is rounded, so that everybody gets the same address for half its life and caches can help.
"""

import base64
import hashlib
import hmac
import time

from tintype.media.models import SIZES


def urls_of(folder: str) -> dict[str, str]:
    """Where each size of a picture is served that everybody may see, such as somebody's own."""
    return {str(size): f"/media/{folder}/{size}.jpg" for size in SIZES}


class Addresses:
    """Makes addresses; with `signed`, ones that open private files for a while."""

    def __init__(self, key: bytes, *, life_s: int) -> None:
        self._key, self._step_s = key, max(1, life_s // 2)

    def of_pictures(self, folder: str, *, signed: bool) -> dict[str, str]:
        """Each size of a picture, or of a clip's poster, by its width."""
        base = self.base_of(folder, signed=signed)
        return {str(size): f"{base}/{size}.jpg" for size in SIZES}

    def of_squares(self, folder: str, *, signed: bool) -> dict[str, str]:
        """The same, cut to a square."""
        base = self.base_of(folder, signed=signed)
        return {str(size): f"{base}/{size}s.jpg" for size in SIZES}

    def of_video(self, folder: str, *, signed: bool) -> str:
        """The whole clip as one file."""
        return f"{self.base_of(folder, signed=signed)}/video.mp4"

    def of_playlist(self, folder: str, *, signed: bool) -> str:
        """The clip in segments."""
        return f"{self.base_of(folder, signed=signed)}/index.m3u8"

    def base_of(self, folder: str, *, signed: bool) -> str:
        """The address that a folder's files begin with; a signed one lives at least half of the time set."""
        if not signed:
            return f"/media/{folder}"
        ends = self.ends()
        return f"/media/~{ends}.{self._sign(folder, ends)}/{folder}"

    def ends(self) -> int:
        """When a signature made now ends; while this stays the same, so do signed addresses."""
        return (int(time.time()) // self._step_s + 2) * self._step_s

    def is_valid(self, folder: str, ends: int, signature: str) -> bool:
        """Whether this signature opens the folder now."""
        return ends > time.time() and hmac.compare_digest(self._sign(folder, ends), signature)

    def _sign(self, folder: str, ends: int) -> str:
        made = hmac.digest(self._key, f"media:{ends}:{folder}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(made[:18]).decode()
