"""URLs of media files, signed where not everybody may open them.

The signature is a part of the path and covers the folder, so that relative names inside a playlist keep working. It
says for whom the URL was made: those who may see the content, its owner alone, or moderators. Its expiry is rounded,
so that all of them get the same URL for half its life and caches can help.
"""

import base64
import hashlib
import hmac
import time

from tintype.media.models import SIZES, Audience, MediaState, MediaType

SIGNED_FOR: tuple[Audience, ...] = ("viewers", "owner", "moderators")


def public_photo_urls(folder: str) -> dict[str, str]:
    """The URL of each size of a photo that everybody may see, such as an avatar."""
    return {str(size): f"/media/{folder}/{size}.jpg" for size in SIZES}


class MediaUrls:
    """Makes URLs for an audience; all but those for everybody are signed, and work for a while."""

    def __init__(self, key: bytes, *, life_s: int) -> None:
        self._key, self._step_s = key, max(1, life_s // 2)

    def photo_urls(self, folder: str, *, audience: Audience) -> dict[str, str]:
        """Each size of a photo, or of a video's poster, by its width."""
        base = self.base_url(folder, audience=audience)
        return {str(size): f"{base}/{size}.jpg" for size in SIZES}

    def square_urls(self, folder: str, *, audience: Audience) -> dict[str, str]:
        """Each size of a photo, or of a video's poster, cropped to a square, by its width."""
        base = self.base_url(folder, audience=audience)
        return {str(size): f"{base}/{size}s.jpg" for size in SIZES}

    def video_url(self, folder: str, *, audience: Audience) -> str:
        """The whole video as one MP4."""
        return f"{self.base_url(folder, audience=audience)}/video.mp4"

    def playlist_url(self, folder: str, *, audience: Audience) -> str:
        """The HLS playlist of a video."""
        return f"{self.base_url(folder, audience=audience)}/index.m3u8"

    def playback_urls(
        self, folder: str, media_type: MediaType, state: MediaState, *, has_hls: bool, audience: Audience
    ) -> tuple[str | None, str | None]:
        """The MP4 and the HLS playlist of a video; None for photos, and while the video is not ready."""
        if media_type != "video" or state != "ready":
            return None, None
        playlist_url = self.playlist_url(folder, audience=audience) if has_hls else None
        return self.video_url(folder, audience=audience), playlist_url

    def base_url(self, folder: str, *, audience: Audience) -> str:
        """What the URLs of a folder's files begin with; a signed one is valid for at least half of the life set."""
        if audience == "everybody":
            return f"/media/{folder}"
        ends = self.signature_expiry()
        return f"/media/~{ends}.{self._sign(folder, ends, audience)}/{folder}"

    def signature_expiry(self) -> int:
        """When a signature made now expires; while this stays the same, so do signed URLs."""
        return (int(time.time()) // self._step_s + 2) * self._step_s

    def find_audience(self, folder: str, ends: int, signature: str) -> Audience | None:
        """For whom a URL of the folder was signed; None if the signature is wrong or has expired."""
        if ends > time.time():
            for audience in SIGNED_FOR:
                if hmac.compare_digest(self._sign(folder, ends, audience), signature):
                    return audience
        return None

    def _sign(self, folder: str, ends: int, audience: Audience) -> str:
        made = hmac.digest(self._key, f"media:{audience}:{ends}:{folder}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(made[:18]).decode()
