"""The profile of an account (full name, bio, website, avatar, privacy), and the details only its owner sees."""

from urllib.parse import urlsplit

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.directory import AccountDirectory
from tintype.accounts.errors import AccountNotFound, ProfileRefused
from tintype.accounts.events import AccountChanged, PrivacyChanged
from tintype.accounts.models import Account, PrivateDetails, ProfileUpdate
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId
from tintype.base.invisible_characters import remove_invisible

MAX_FULL_NAME_LENGTH, MAX_BIO_LENGTH, MAX_WEBSITE_LENGTH = 100, 500, 200


class ProfileEditor:
    """Changes what others see of an account."""

    def __init__(self, deps: AccountsDependencies, directory: AccountDirectory) -> None:
        self._deps, self._directory = deps, directory

    async def change(self, account_id: AccountId, change: ProfileUpdate) -> Account:
        """Change the fields that are given; the rest stays."""
        is_private = change.is_private
        values = {
            "full_name": None if change.full_name is None else check_full_name(change.full_name),
            "bio": None if change.bio is None else check_bio(change.bio),
            "website": None if change.website is None else check_website(change.website),
        }
        async with self._deps.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if before is None:
                raise AccountNotFound
            await tx.execute(
                QUERIES.change_profile,
                id=account_id,
                is_private=is_private,
                is_unlisted=change.is_unlisted,
                allows_downloads=change.allows_downloads,
                shows_camera=change.shows_camera,
                allows_story_shares=change.allows_story_shares,
                **values,
            )
            await self._deps.outbox.add(tx, AccountChanged(account_id))
            if is_private is not None and is_private != before["is_private"]:
                await self._deps.outbox.add(tx, PrivacyChanged(account_id, is_private))
        await self._directory.invalidate(account_id)
        return await self._directory.get(account_id)

    async def set_avatar(self, account_id: AccountId, folder: str | None) -> str | None:
        """Set or remove the avatar; returns the folder of the previous one."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if before is None:
                raise AccountNotFound
            await tx.execute(QUERIES.change_avatar, id=account_id, folder=folder)
            await self._deps.outbox.add(tx, AccountChanged(account_id))
        await self._directory.invalidate(account_id)
        return before["avatar_folder"]

    async def get_private(self, account_id: AccountId) -> PrivateDetails:
        """The details of an account that only its owner sees."""
        row = await self._deps.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        if row is None:
            raise AccountNotFound
        return PrivateDetails(**row)


def check_full_name(text: str) -> str:
    """A name as people write it, on one line; or `ProfileRefused`."""
    name = " ".join(remove_invisible(text).split())
    if len(name) > MAX_FULL_NAME_LENGTH or not is_storable(text):
        raise ProfileRefused(f"A full name has at most {MAX_FULL_NAME_LENGTH} characters.")
    return name


def check_bio(text: str) -> str:
    """A bio without surrounding space; or `ProfileRefused`."""
    bio = text.strip()
    if len(bio) > MAX_BIO_LENGTH or not is_storable(bio):
        raise ProfileRefused(f"A bio has at most {MAX_BIO_LENGTH} characters.")
    return bio


def check_website(text: str) -> str:
    """A URL that is safe to link to (http or https, a host, no credentials), or empty; or `ProfileRefused`."""
    website = text.strip()
    if not website:
        return ""
    try:
        parts = urlsplit(website)
        is_fine = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
        is_fine = is_fine and (parts.port is None or parts.port > 0)
    except ValueError:
        is_fine = False
    is_plain = website.isprintable() and not set(website) & set(" <>\"'`\\")
    if not (is_fine and is_plain) or len(website) > MAX_WEBSITE_LENGTH:
        raise ProfileRefused(
            f"A website begins with http:// or https:// and has at most {MAX_WEBSITE_LENGTH} characters."
        )
    return website


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store a text: no NUL, and no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
