"""Has an edge cache (a CDN or proxy in front) drop its copies of files that were taken away.

Public files are sent with a short `s-maxage`, so an edge asks again soon by itself; a purge makes it forget at once.
Each file carries two tags, its folder's and its account's, which are also the beginnings of its path. The call is made
by the worker, from events, and repeated until it succeeds; purging twice does no harm.
"""

from collections.abc import Sequence

import httpx

from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.settings import Settings

TAGS_PER_CALL = 30
TIMEOUT = httpx.Timeout(10.0, connect=5.0)
log = get_log("media")


class EdgePurgeFailed(Unavailable):
    """The edge cache did not confirm that it dropped its copies; it will be asked again."""

    code = "edge_purge_failed"


class EdgePurge:
    """Calls the purge API of an edge cache, where the settings name one."""

    def __init__(self, settings: Settings) -> None:
        self._url, self._token = settings.media_purge_url, settings.media_purge_token

    @property
    def is_configured(self) -> bool:
        """Whether there is an edge cache to purge, and so a use for tags."""
        return bool(self._url)

    async def purge_folders(self, folders: Sequence[str]) -> None:
        """Drop the copies of every file of these media."""
        await self._purge([folder_tag(each) for each in folders])

    async def purge_account(self, account_id: AccountId) -> None:
        """Drop the copies of every file of an account."""
        await self._purge([account_tag(account_id)])

    async def _purge(self, tags: Sequence[str]) -> None:
        if not self.is_configured or not tags:
            return
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        # No redirects and no proxy from the environment: the token goes to the address that was set, and nowhere else.
        async with httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=False, trust_env=False) as client:
            for start in range(0, len(tags), TAGS_PER_CALL):
                await self._call(client, headers, tags[start : start + TAGS_PER_CALL])

    async def _call(self, client: httpx.AsyncClient, headers: dict[str, str], tags: Sequence[str]) -> None:
        try:
            async with client.stream("POST", self._url, json={"tags": list(tags)}, headers=headers) as answer:
                status = answer.status_code  # the body is never read: it is of no use and could be endless
        except httpx.HTTPError as error:
            raise EdgePurgeFailed(error=type(error).__name__) from error
        if not 200 <= status < 300:  # noqa: PLR2004 - the class of success
            raise EdgePurgeFailed(f"The edge cache answered {status}.", status=status)
        log.info("edge.purged", tags=len(tags))


def folder_tag(folder: str) -> str:
    """The tag of every file of one photo or video."""
    return f"media/{folder}"


def account_tag(account_id: AccountId) -> str:
    """The tag of every file of an account; it ends with a slash, as the path goes on there."""
    return f"media/{account_id}/"
