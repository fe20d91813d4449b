"""The front door of authentication: sign-in, sessions and API tokens."""

from collections.abc import Collection
from typing import Any

from tintype.accounts.api_tokens import ApiTokens
from tintype.accounts.events import SessionsEnded
from tintype.accounts.models import LOCAL_CALLER, Account, AuthenticatedSession, Caller, Session, SignedIn
from tintype.accounts.parts import AccountsParts
from tintype.accounts.sign_in import SignIn
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, on


class Authentication:
    """Proves who sends a request: starts sessions, finds them by their tokens, and ends them."""

    def __init__(self, parts: AccountsParts) -> None:
        self._directory, self._devices = parts.directory, parts.devices
        self._sessions = parts.sessions
        self._api_tokens = ApiTokens(parts.deps, parts.sessions, parts.mail_queue)
        self._sign_in = SignIn(parts)

    # Sign-in.

    async def sign_in(self, identifier: str, password: str, *, caller: Caller = LOCAL_CALLER) -> SignedIn:
        """Start a session; a wrong name and a wrong password are refused in the same way and time.

        Raises `SecondFactorRequired` where the password is right and a second factor is set up.
        """
        return await self._sign_in.by_password(identifier, password, caller)

    async def sign_in_with_second_factor(
        self, ticket: str, caller: Caller, *, code: str = "", passkey: dict[str, Any] | None = None
    ) -> SignedIn:
        """Finish a sign-in that began with a password."""
        return await self._sign_in.by_second_factor(ticket, caller, code=code, passkey=passkey)

    async def sign_in_with_passkey(self, answer: dict[str, Any], caller: Caller) -> SignedIn:
        """Start a session for whoever holds the passkey."""
        return await self._sign_in.by_passkey(answer, caller)

    async def second_factor_options(self, ticket: str) -> dict[str, Any]:
        """WebAuthn request options for a passkey as the second factor of this sign-in."""
        return await self._sign_in.second_factor_options(ticket)

    async def passkey_sign_in_options(self, caller: Caller) -> dict[str, Any]:
        """WebAuthn request options for signing in with any passkey of this site."""
        return await self._sign_in.passkey_options(caller)

    def issue_device_token(self, account_id: AccountId) -> str:
        """The cookie of a device that has just signed in, which gives it a sign-in limit of its own."""
        return self._devices.issue(account_id)

    # Sessions and API tokens.

    async def authenticate(self, token: str) -> tuple[AuthenticatedSession, Account] | None:
        """The session of a token and its account, which is active or suspended; None when the session has ended."""
        return await self._sessions.authenticate(token, self._directory.source)

    async def authenticate_hash(
        self, token_hash: bytes, account_id: AccountId
    ) -> tuple[AuthenticatedSession, Account] | None:
        """As `authenticate`, by the hash of the token, for who holds a signed statement about the session."""
        return await self._sessions.authenticate_hash(token_hash, account_id, self._directory.source)

    def authenticate_cached(self, token_hash: str) -> tuple[AuthenticatedSession, Account] | None:
        """As `authenticate`, from the client-side cache alone; `redis/client_cache.py` says who may rely on it."""
        return self._sessions.authenticate_cached(token_hash, self._directory.client_cached)

    async def load_client_cache(self, token: str) -> None:
        """Read the session of a token and its account into the client-side cache, if they exist."""
        await self._sessions.load_client_cache(token, self._directory.source)

    async def find_account_by_token(self, token: str) -> Account | None:
        """The account of a session token, if it is valid and the account is active."""
        found = await self.authenticate(token)
        return found[1] if found and found[1].is_active else None

    async def list_sessions(self, account_id: AccountId) -> list[Session]:
        """An account's sessions, the most recently used first; API tokens are not among them."""
        return await self._sessions.list(account_id)

    async def renew_session(self, token: str) -> str | None:
        """A new token for the same session; the old one works for another hour. None if it was renewed already."""
        return await self._sessions.renew(token)

    async def exchange_token(self, token: str) -> str:
        """A new token for the same session, or `SessionNotFound` if it was exchanged already."""
        return await self._sessions.exchange(token)

    async def end_session(self, account_id: AccountId, session_id: int) -> None:
        """End one session of an account, effective at once."""
        await self._sessions.end(account_id, session_id)

    async def end_other_sessions(self, session: AuthenticatedSession, *, keeps_tokens: bool = False) -> None:
        """End every session of the account but this one, and its API tokens unless they are kept."""
        await self._sessions.end_others(session, keeps_tokens=keeps_tokens)

    async def sign_out(self, token: str) -> None:
        """End the session of this token; doing it twice is no error."""
        await self._sessions.end_by_token(token)

    async def create_api_token(
        self, account_id: AccountId, name: str, *, scopes: Collection[str], known: Collection[str], days: int
    ) -> tuple[Session, str]:
        """A new API token, shown this once. `known` are all scopes that exist."""
        return await self._api_tokens.create(account_id, name, scopes=scopes, known=known, days=days)

    async def list_api_tokens(self, account_id: AccountId) -> list[Session]:
        """An account's API tokens, the most recently used first."""
        return await self._api_tokens.list(account_id)

    async def revoke_api_token(self, account_id: AccountId, token_id: int) -> None:
        """End one API token, effective at once."""
        await self._api_tokens.revoke(account_id, token_id)

    # Jobs.

    def handlers(self) -> list[Handler]:
        """The event handlers that end sessions in every process."""
        return [on(SessionsEnded, self._sessions.invalidate_ended, name="accounts-sessions")]
