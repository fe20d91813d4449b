"""Passwords: which are refused, and how the others are kept.

argon2id, off the event loop and a few at a time: one hash takes 64 MiB and tens of milliseconds on purpose, and a
crowd at the door must not take all the memory there is.
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

SHORTEST, LONGEST = 8, 256
AT_ONCE = 4
RANGE_PATIENCE_S = 2.0
RANGE_PREFIX = 5
log = get_log("accounts")


class Passwords:
    """Checks, hashes and compares passwords."""

    def __init__(self, *, range_url: str = "") -> None:
        self._range_url, self._gate = range_url, asyncio.Semaphore(AT_ONCE)
        self.use_hasher(PasswordHasher())

    def use_hasher(self, hasher: PasswordHasher) -> None:
        """Hash with these costs from now on; passwords hashed before stay valid and are hashed anew when used."""
        self._hasher = hasher
        # Compared with when the name is unknown, so that the answer takes as long as for a known one.
        self._no_ones_hash = hasher.hash("nobody's password")

    async def check(self, password: str, *, own: Iterable[str] = ()) -> None:
        """Refuse what is too short to protect, too long to hash, or among the first that anybody would guess."""
        if not SHORTEST <= len(password) <= LONGEST or not _is_text(password):
            raise PasswordRefused
        names = [part for each in own for part in (each, *each.split("@")) if part]
        if await asyncio.to_thread(_is_guessable, password, names):
            raise PasswordCommon
        if self._range_url and await self._is_breached(password):
            raise PasswordCommon("That password is known from a leak elsewhere; choose another.")

    async def hash(self, password: str) -> str:
        """What the database keeps."""
        async with self._gate:
            return await asyncio.to_thread(self._hasher.hash, password)

    async def is_right(self, stored: str | None, password: str) -> bool:
        """Whether a password is the stored one; takes as long when nothing is stored."""
        if len(password) > LONGEST or not _is_text(password):
            password = ""
        async with self._gate:
            matches = await asyncio.to_thread(self._verify, stored or self._no_ones_hash, password)
        return matches and stored is not None

    def needs_rehash(self, stored: str) -> bool:
        """Whether it was hashed with other costs than today's."""
        return self._hasher.check_needs_rehash(stored)

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _is_breached(self, password: str) -> bool:
        """Ask a range service: it learns five digits of a hash, which thousands of passwords share.

        A service that does not answer refuses nobody: it must not be able to close the door.
        """
        digest = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()
        prefix, rest = digest[:RANGE_PREFIX], digest[RANGE_PREFIX:]
        try:
            async with asyncio.timeout(RANGE_PATIENCE_S), httpx.AsyncClient() as client:
                answer = await client.get(
                    f"{self._range_url.rstrip('/')}/{prefix}", headers={"Add-Padding": "true"}
                )
                answer.raise_for_status()
        except (httpx.HTTPError, TimeoutError) as error:
            log.warning("password.unchecked", error=str(error) or type(error).__name__)
            return False
        lines = (line.partition(":") for line in answer.text.splitlines())
        return any(suffix.strip().upper() == rest and count.strip() != "0" for suffix, _, count in lines)


def _is_guessable(password: str, names: list[str]) -> bool:
    return is_common(password) or any(is_close_to(password, name) for name in (*names, "tintype"))


def _is_text(password: str) -> bool:
    """Lone surrogates are no text: they cannot be hashed."""
    try:
        password.encode()
    except UnicodeEncodeError:
        return False
    return True
