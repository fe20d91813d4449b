"""Several accounts in one browser: one is in use, the sessions of the others are set aside in a cookie of their own.

Whoever sets the present account aside is a guest and signs in as usual, by whatever means. Switching exchanges the two
cookies. Nothing of this is stored on the server: each session goes on as it is, and may be ended from elsewhere.
"""

from typing import Any

from litestar import Request
from litestar.datastructures import Cookie

from tintype.accounts import Account
from tintype.api.http.authentication import RENEWED_COOKIES, SESSION_COOKIE, Authenticator
from tintype.base.errors import Conflict, NotFound
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

OTHERS_COOKIE = "tt_others"
MAX_OTHERS = 4
SEPARATOR = "~"
"""In no token."""


class NotOnDevice(NotFound):
    """That account is not signed in on this device."""

    code = "not_on_device"


class TooManyOnDevice(Conflict):
    """Five accounts are signed in on this device. Log out of one of them first."""

    code = "too_many_on_device"


class DeviceAccounts:
    """The accounts that are signed in in the browser of a request."""

    def __init__(self, request: Request[Any, Any, Any], rooms: Rooms, authenticator: Authenticator) -> None:
        self._request, self._rooms, self._authenticator = request, rooms, authenticator
        self._token = request.cookies.get(SESSION_COOKIE, "")

    async def list_all(self) -> list[tuple[Account, bool]]:
        """The accounts, each with whether it is the one in use, which comes first."""
        current = await self._find(self._token)
        others = [
            account for account, _ in await self._others() if current is None or account.id != current.id
        ]
        return [*([(current, True)] if current else []), *((each, False) for each in others)]

    async def set_aside(self) -> None:
        """Set the present account aside: the browser is a guest's, until somebody signs in or switches."""
        self._check_csrf()
        if await self._find(self._token) is None:
            raise NotOnDevice
        kept = [*await self._other_tokens(), self._token]
        if len(kept) > MAX_OTHERS:
            raise TooManyOnDevice
        self._authenticator.clear_cookies(self._request)
        self._add_cookie(kept)

    async def switch(self, to: AccountId) -> None:
        """Use another account of this browser; the present one is set aside."""
        self._check_csrf()
        token = await self._token_of(to)
        kept = [each for each in await self._other_tokens() if each != token]
        if await self._find(self._token) is not None:
            kept.append(self._token)
        self._request.scope["state"][RENEWED_COOKIES] = self._authenticator.session_cookies(token)
        self._add_cookie(kept)

    async def remove(self, account_id: AccountId) -> None:
        """Log out of an account that was set aside."""
        self._check_csrf()
        token = await self._token_of(account_id)
        await self._rooms.authentication.sign_out(token)
        self._request.scope["state"][RENEWED_COOKIES] = []
        self._add_cookie([each for each in await self._other_tokens() if each != token])

    def _check_csrf(self) -> None:
        """Refuse a request with a session whose CSRF token is missing. One without a session is of this site anyway."""
        self._authenticator.token(self._request)

    async def _token_of(self, account_id: AccountId) -> str:
        for account, token in await self._others():
            if account.id == account_id:
                return token
        raise NotOnDevice

    async def _other_tokens(self) -> list[str]:
        """The tokens of the other accounts, without those of the present one."""
        current = await self._find(self._token)
        return [
            token for account, token in await self._others() if current is None or account.id != current.id
        ]

    async def _others(self) -> list[tuple[Account, str]]:
        """Those of the set-aside sessions that have not ended, one for each account: the latest."""
        tokens = self._request.cookies.get(OTHERS_COOKIE, "").split(SEPARATOR)[:MAX_OTHERS]
        found: dict[AccountId, tuple[Account, str]] = {}
        for token in filter(None, tokens):
            account = await self._find(token)
            if account is not None:
                found[account.id] = (account, token)
        return [*found.values()]

    async def _find(self, token: str) -> Account | None:
        found = await self._rooms.authentication.authenticate(token) if token else None
        if found is None or found[0].scopes is not None:
            return None
        return found[1]

    def _add_cookie(self, tokens: list[str]) -> None:
        cookies: list[Cookie] = self._request.scope["state"][RENEWED_COOKIES]
        value = SEPARATOR.join(tokens)
        if value:
            cookies.append(self._authenticator.cookie(OTHERS_COOKIE, value))
        else:
            cookies.append(Cookie(key=OTHERS_COOKIE, value="", max_age=0, path="/"))
