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
from tintype.media.photos import PREVIEW_SIDE, large_renditions
from tintype.media.voices import VOICE

DOWNLOAD = "original"
"""The name under which others download a photo."""
SIGNED_FOR: tuple[Audience, ...] = ("viewers", "owner", "moderators")


def public_photo_urls(folder: str) -> dict[str, str]:
    """The URL of each size of a photo that everybody may see, such as an avatar."""
    return {str(size): f"/media/{folder}/{size}.jpg" for size in SIZES}


def public_square_urls(folder: str) -> dict[str, str]:
    """The URL of each size of such a photo, cropped to a square."""
    return {str(size): f"/media/{folder}/{size}s.jpg" for size in SIZES}


def preview_url(folder: str) -> str:
    """The URL of the picture of a link preview, of a photo that everybody may see."""
    return f"/media/{folder}/preview.jpg"


def full_size(width: int, height: int, large_width: int | None) -> tuple[int, int]:
    """Width and height of a photo's largest rendition, by those of its 1080.jpg."""
    if large_width is None or large_width <= width:
        return width, height
    return large_width, max(1, round(height * large_width / width))


def fit_preview(width: int, height: int) -> tuple[int, int]:
    """Width and height of that picture, for a photo of this size: it is never enlarged."""
    scale = min(1.0, PREVIEW_SIDE / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))


class MediaUrls:
    """Makes URLs for an audience; all but those for everybody are signed, and work for a while."""

    def __init__(self, key: bytes, *, life_s: int) -> None:
        self._key, self._step_s = key, max(1, life_s // 2)

    def photo_urls(
        self, folder: str, *, audience: Audience, large_width: int | None = None
    ) -> dict[str, str]:
        """Each size of a photo, or of a video's poster, by its width; the largest are no wider than the photo."""
        base = self.base_url(folder, audience=audience)
        large = {str(width): f"{base}/{size}.jpg" for size, width in large_renditions(large_width).items()}
        return {str(size): f"{base}/{size}.jpg" for size in SIZES} | large

    def download_url(self, folder: str, *, audience: Audience) -> str:
        """A photo as it was uploaded, or as it was edited."""
        return f"{self.base_url(folder, audience=audience)}/{DOWNLOAD}"

    def square_urls(self, folder: str, *, audience: Audience) -> dict[str, str]:
        """Each size of a photo, or of a video's poster, cropped to a square, by its width."""
        base = self.base_url(folder, audience=audience)
        return {str(size): f"{base}/{size}s.jpg" for size in SIZES}

    def video_url(self, folder: str, *, audience: Audience) -> str:
        """The whole video as one MP4."""
        return f"{self.base_url(folder, audience=audience)}/video.mp4"

    def voice_url(self, folder: str, *, audience: Audience) -> str:
        """The sound of a voice message."""
        return f"{self.base_url(folder, audience=audience)}/{VOICE}"

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
