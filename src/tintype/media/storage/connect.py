"""Opens the object stores that the settings name: a local directory by default, any S3 by its URL."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from obstore.store import LocalStore, ObjectStore, S3Store, from_url

from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings
from tintype.media.models import Tier

RETRY_TIMEOUT = timedelta(seconds=10)
MAX_RETRIES = 3


def open_stores(settings: Settings) -> Mapping[Tier, ObjectStore]:
    """A store per tier; a tier without a setting shares the store of the tier above."""
    hot = open_store(settings, settings.media_store or str(settings.home / "media"))
    warm = open_store(settings, settings.media_store_warm) if settings.media_store_warm else hot
    cold = open_store(settings, settings.media_store_cold) if settings.media_store_cold else warm
    return {"hot": hot, "warm": warm, "cold": cold}


def open_store(settings: Settings, url: str) -> ObjectStore:
    """The store at a directory or URL. A store that is down fails within seconds, not minutes."""
    if url.startswith(("s3://", "s3a://")):
        return _open_s3(settings, url)
    if "://" in url:
        return from_url(url)
    return LocalStore(Path(url).expanduser(), mkdir=True, automatic_cleanup=True)


def _open_s3(settings: Settings, url: str) -> S3Store:
    keys = {}
    if settings.media_s3_access_key:
        keys = {
            "access_key_id": settings.media_s3_access_key,
            "secret_access_key": settings.media_s3_secret_key,
        }
    if settings.media_s3_endpoint:
        keys |= {"endpoint": settings.media_s3_endpoint, "virtual_hosted_style_request": False}
    parts = urlsplit(url)
    if not parts.netloc:
        raise SettingsInvalid(f"{url} names no bucket: write s3://BUCKET or s3://BUCKET/PREFIX.")
    return S3Store(
        parts.netloc,
        prefix=parts.path.strip("/") or None,
        region=settings.media_s3_region,
        client_options={"allow_http": True, "connect_timeout": "3s", "timeout": "60s"},
        retry_config={"max_retries": MAX_RETRIES, "retry_timeout": RETRY_TIMEOUT},
        config=keys,  # pyright: ignore[reportArgumentType] - a TypedDict that is not importable at run time
    )
