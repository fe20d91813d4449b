"""Passwords: which are refused, and how the others are hashed.

argon2id, off the event loop and a few at a time: one hash takes 64 MiB and tens of milliseconds on purpose, and many
sign-ins at once must not take all memory.
"""

import asyncio
import hashlib
from collections.abc import Iterable

import httpx
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from tintype.accounts.common_passwords import is_close_to, is_common
from tintype.accounts.errors import PasswordCommon, PasswordRefused
from tintype.base.log import get_log

MIN_LENGTH, MAX_LENGTH = 8, 256
CONCURRENT_HASHES = 2
"""Per process. Each takes four threads, so two keep eight cores busy."""
RANGE_TIMEOUT_S = 2.0
RANGE_PREFIX_DIGITS = 5
log = get_log("accounts")


class Passwords:
    """Checks, hashes and verifies passwords."""

    def __init__(self, *, range_url: str = "") -> None:
        self._range_url, self._semaphore = range_url, asyncio.Semaphore(CONCURRENT_HASHES)
        self.use_hasher(PasswordHasher())

    def use_hasher(self, hasher: PasswordHasher) -> None:
        """Hash with these costs from now on; older hashes stay valid and are replaced at the next sign-in."""
        self._hasher = hasher
        # Verified against when the name is unknown, so that the answer takes as long as for a known one.
        self._dummy_hash = hasher.hash("nobody's password")

    async def check(self, password: str, *, own: Iterable[str] = ()) -> None:
        """Refuse what is too short, too long, easy to guess or leaked; `own` are the names of the person."""
        if not MIN_LENGTH <= len(password) <= MAX_LENGTH or not _is_text(password):
            raise PasswordRefused
        names = [part for each in own for part in (each, *each.split("@")) if part]
        if await asyncio.to_thread(_is_guessable, password, names):
            raise PasswordCommon
        if self._range_url and await self._is_breached(password):
            raise PasswordCommon("That password is known from a leak elsewhere; choose another.")

    async def hash(self, password: str) -> str:
        """The argon2id hash to store."""
        async with self._semaphore:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def verify(self, stored: str | None, password: str) -> bool:
        """Whether a password matches the stored hash; takes as long when there is none."""
        if len(password) > MAX_LENGTH or not _is_text(password):
            password = ""
        async with self._semaphore:
            matches = await asyncio.to_thread(self._verify, stored or self._dummy_hash, password)
        return matches and stored is not None

    def needs_rehash(self, stored: str) -> bool:
        """Whether a hash was made with other costs than the current ones."""
        return self._hasher.check_needs_rehash(stored)

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _is_breached(self, password: str) -> bool:
        """Query a k-anonymity range service: it learns five digits of a hash, which thousands of passwords share.

        Without an answer the password is accepted: an outage of the service must not stop sign-ups.
        """
        digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
        prefix, rest = digest[:RANGE_PREFIX_DIGITS], digest[RANGE_PREFIX_DIGITS:]
        try:
            async with asyncio.timeout(RANGE_TIMEOUT_S), httpx.AsyncClient() as client:
                response = await client.get(
                    f"{self._range_url.rstrip('/')}/{prefix}", headers={"Add-Padding": "true"}
                )
                response.raise_for_status()
        except (httpx.HTTPError, TimeoutError) as error:
            log.warning("password.unchecked", error=str(error) or type(error).__name__)
            return False
        lines = (line.partition(":") for line in response.text.splitlines())
        return any(suffix.strip().upper() == rest and count.strip() != "0" for suffix, _, count in lines)


def _is_guessable(password: str, names: list[str]) -> bool:
    return is_common(password) or any(is_close_to(password, name) for name in (*names, "tintype"))


def _is_text(password: str) -> bool:
    """Whether it can be encoded as UTF-8: lone surrogates cannot be hashed."""
    try:
        password.encode()
    except UnicodeEncodeError:
        return False
    return True
