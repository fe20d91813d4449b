"""What a picture looks like to the rest of the house."""

from datetime import datetime

import msgspec

from tintype.base.ids import AccountId, MediaId

SIZES = (1080, 640, 320, 150)


class Media(msgspec.Struct, frozen=True):
    """One uploaded picture and the folder its sizes lie in."""

    id: MediaId
    account_id: AccountId
    folder: str
    width: int
    height: int
    expires_at: datetime | None = None

    def urls(self) -> dict[str, str]:
        """Where each size is served."""
        return urls_of(self.folder)


def urls_of(folder: str) -> dict[str, str]:
    """Where each size of the picture in a folder is served."""
    return {str(size): f"/media/{folder}/{size}.jpg" for size in SIZES}
