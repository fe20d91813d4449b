"""What somebody says about themselves, and the name they go by."""

from urllib.parse import urlsplit

from tintype.accounts.contacts import look_key
from tintype.accounts.directory import Directory
from tintype.accounts.doors import Doors
from tintype.accounts.errors import AccountNotFound, ProfileRefused, UsernameRefused, UsernameTaken
from tintype.accounts.events import AccountChanged, PrivacyChanged
from tintype.accounts.ground import Ground
from tintype.accounts.models import Account, Caller, PrivateDetails
from tintype.accounts.names import check_username
from tintype.accounts.store import QUERIES
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.base.log import get_log

LONGEST_FULL_NAME, LONGEST_BIO, LONGEST_WEBSITE = 100, 500, 200
NAME_KEPT_DAYS = 14
log = get_log("accounts")


class Profiles:
    """Changes what others see of an account."""

    def __init__(self, ground: Ground, directory: Directory, doors: Doors) -> None:
        self._ground, self._directory, self._doors = ground, directory, doors

    async def change(
        self,
        account_id: AccountId,
        *,
        full_name: str | None = None,
        bio: str | None = None,
        website: str | None = None,
        is_private: bool | None = None,
    ) -> Account:
        """Change what is given; the rest stays."""
        values = {
            "full_name": None if full_name is None else check_full_name(full_name),
            "bio": None if bio is None else check_bio(bio),
            "website": None if website is None else check_website(website),
        }
        async with self._ground.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if before is None:
                raise AccountNotFound
            await tx.execute(QUERIES.change_profile, id=account_id, is_private=is_private, **values)
            await self._ground.outbox.add(tx, AccountChanged(account_id))
            if is_private is not None and is_private != before["is_private"]:
                await self._ground.outbox.add(tx, PrivacyChanged(account_id, is_private))
        await self._directory.forget(account_id)
        return await self._directory.get(account_id)

    async def set_avatar(self, account_id: AccountId, folder: str | None) -> str | None:
        """Show this picture, or none; returns the folder of the one before."""
        async with self._ground.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if before is None:
                raise AccountNotFound
            await tx.execute(QUERIES.change_avatar, id=account_id, folder=folder)
            await self._ground.outbox.add(tx, AccountChanged(account_id))
        await self._directory.forget(account_id)
        return before["avatar_folder"]

    async def rename(self, account_id: AccountId, username: str) -> Account:
        """Go by another name. The old one stays theirs for 14 days: links work, and nobody steps into their shoes."""
        name = check_username(username)
        account = await self._directory.get(account_id)
        if account.username == name:
            return account
        await self._doors.rename(account_id)
        if account.is_verified:
            await self._claim_look(name, account_id)
        else:
            await self.check_look(name, account_id)
        claimed_at = await self._ground.usernames.make(name, account_id)
        if claimed_at is None:
            raise UsernameTaken
        async with self._ground.shards.owner(account_id).begin() as tx:
            before = await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if before is None:
                raise AccountNotFound
            if not await tx.fetch_one(
                QUERIES.rename_account, id=account_id, username=name, claimed_at=claimed_at
            ):
                raise Unavailable
            old = {"account_id": account_id, "username": before["username"]}
            if before["username"] != name:
                await tx.execute(QUERIES.keep_former_username, days=NAME_KEPT_DAYS, **old)
            await tx.execute(QUERIES.drop_former_username, account_id=account_id, username=name)
            await self._ground.outbox.add(tx, AccountChanged(account_id))
        await self._directory.forget(account_id)
        log.info("account.renamed", account_id=account_id)
        return await self._directory.get(account_id)

    async def verify(self, account_id: AccountId, *, is_verified: bool) -> None:
        """Vouch for who somebody is, or cease to; names that look like theirs are refused meanwhile."""
        account = await self._directory.get(account_id)
        if is_verified:
            await self._claim_look(account.username, account_id)
        async with self._ground.shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.set_verified, id=account_id, is_verified=is_verified)
            await self._ground.outbox.add(tx, AccountChanged(account_id))
        if not is_verified:
            await self._ground.keys.release(look_key(account.username), account_id)
        await self._directory.forget(account_id)

    async def check_look(self, username: str, account_id: AccountId) -> None:
        """Refuse a name that looks like a verified account's."""
        holder = await self._ground.keys.find_backed(look_key(username))
        if holder is not None and holder != account_id:
            raise UsernameRefused("That username looks like the name of a verified account.")

    async def is_available(self, username: str, caller: Caller) -> bool:
        """Whether a name could be had now; names are public, so this is no secret."""
        await self._doors.look_up(caller)
        name = check_username(username)
        await self.check_look(name, AccountId(0))
        return await self._ground.usernames.find_backed(name) is None

    async def get_private(self, account_id: AccountId) -> PrivateDetails:
        """What only its owner sees."""
        row = await self._ground.shards.owner(account_id).fetch_one(QUERIES.find_private, id=account_id)
        if row is None:
            raise AccountNotFound
        return PrivateDetails(**row)

    async def release_ended_names(self) -> None:
        """Names whose 14 days are over are anybody's."""
        found = await self._ground.shards.everywhere().fetch(QUERIES.list_ended_usernames)
        for row in found.rows:
            name, account_id = row["username"], AccountId(row["account_id"])
            await self._ground.usernames.release(name, account_id)
            await self._ground.shards.owner(account_id).execute(
                QUERIES.drop_former_username, account_id=account_id, username=name
            )

    async def _claim_look(self, username: str, account_id: AccountId) -> None:
        if await self._ground.keys.make(look_key(username), account_id) is None:
            raise UsernameRefused("That username looks like the name of a verified account.")


def check_full_name(text: str) -> str:
    """A name as people write it, on one line."""
    name = " ".join(text.split())
    if len(name) > LONGEST_FULL_NAME or not is_storable(name):
        raise ProfileRefused(f"A full name has at most {LONGEST_FULL_NAME} characters.")
    return name


def check_bio(text: str) -> str:
    """Some words about oneself."""
    bio = text.strip()
    if len(bio) > LONGEST_BIO or not is_storable(bio):
        raise ProfileRefused(f"A bio has at most {LONGEST_BIO} characters.")
    return bio


def check_website(text: str) -> str:
    """An address that can be followed safely: http or https, a host, and nobody's password."""
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
    if not (is_fine and is_plain) or len(website) > LONGEST_WEBSITE:
        raise ProfileRefused(
            f"A website begins with http:// or https:// and has at most {LONGEST_WEBSITE} characters."
        )
    return website


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can keep it: no NUL, and nothing that is not a character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text
