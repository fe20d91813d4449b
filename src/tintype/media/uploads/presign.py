"""Presigned URLs with which a client puts one file straight into an S3 store (AWS Signature Version 4, in the query).

Our store library presigns URLs for any content. Here the length and the type are signed as well, so that the store
itself refuses anything but what was announced.
"""

import hashlib
import hmac
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

import msgspec

from tintype.base.settings import Settings

LIFE_S = 3_600
ALGORITHM = "AWS4-HMAC-SHA256"


class Presigned(msgspec.Struct, frozen=True):
    """The request with which to put the file into the store."""

    url: str
    method: str
    headers: dict[str, str]
    expires_in_s: int


class Presigner:
    """Presigns URLs of one bucket."""

    def __init__(
        self, *, endpoint: str, bucket: str, prefix: str, region: str, access_key: str, secret_key: str
    ) -> None:
        self._endpoint, self._bucket, self._prefix = endpoint.rstrip("/"), bucket, prefix
        self._region, self._access_key, self._secret_key = region, access_key, secret_key

    def put(self, path: str, *, size_bytes: int, content_type: str) -> Presigned:
        """A URL that accepts this many bytes of this type at this path, for an hour."""
        now = datetime.now(UTC)
        signed = {
            "content-length": str(size_bytes),
            "content-type": content_type,
            "host": urlsplit(self._endpoint).netloc,
        }
        scope = f"{now:%Y%m%d}/{self._region}/s3/aws4_request"
        query = {
            "X-Amz-Algorithm": ALGORITHM,
            "X-Amz-Credential": f"{self._access_key}/{scope}",
            "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
            "X-Amz-Expires": str(LIFE_S),
            "X-Amz-SignedHeaders": ";".join(signed),
        }
        url_path = "/" + quote("/".join(part for part in (self._bucket, self._prefix, path) if part))
        canonical_query = "&".join(
            f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in sorted(query.items())
        )
        headers = "".join(f"{name}:{value}\n" for name, value in signed.items())
        canonical = "\n".join(
            ("PUT", url_path, canonical_query, headers, ";".join(signed), "UNSIGNED-PAYLOAD")
        )
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = "\n".join((ALGORITHM, query["X-Amz-Date"], scope, digest))
        signature = hmac.new(self._key(now), text.encode(), hashlib.sha256).hexdigest()
        return Presigned(
            url=f"{self._endpoint}{url_path}?{canonical_query}&X-Amz-Signature={signature}",
            method="PUT",
            headers={"Content-Type": content_type, "Content-Length": str(size_bytes)},
            expires_in_s=LIFE_S,
        )

    def _key(self, now: datetime) -> bytes:
        key = f"AWS4{self._secret_key}".encode()
        for part in (f"{now:%Y%m%d}", self._region, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), hashlib.sha256)
        return key


def build_presigner(settings: Settings) -> Presigner | None:
    """The presigner of the hot store, or None where that is no S3 whose keys are in the settings."""
    store_url = urlsplit(settings.media_store)
    if store_url.scheme not in {"s3", "s3a"} or not settings.media_s3_access_key:
        return None
    region = settings.media_s3_region
    return Presigner(
        endpoint=settings.media_s3_endpoint or f"https://s3.{region}.amazonaws.com",
        bucket=store_url.netloc,
        prefix=store_url.path.strip("/"),
        region=region,
        access_key=settings.media_s3_access_key,
        secret_key=settings.media_s3_secret_key,
    )
