"""The accounts room's part in exports and erasure of personal data."""

from collections.abc import AsyncIterator

import msgspec

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.directory import AccountDirectory
from tintype.accounts.sessions import Sessions
from tintype.accounts.store import QUERIES
from tintype.accounts.unique_claims import backed_keys
from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord

BATCH = 200


class AccountPersonalData:
    """Exports and erases an account with its sessions, mails, second factors, passkeys and claims."""

    def __init__(self, deps: AccountsDependencies, directory: AccountDirectory, sessions: Sessions) -> None:
        self._deps, self._directory, self._sessions = deps, directory, sessions

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Everything this room stores about a person, except hashes and secrets."""
        shard = self._deps.shards.owner(account_id)
        account = await shard.fetch_one(QUERIES.find_account, id=account_id)
        private = await shard.fetch_one(QUERIES.find_private, id=account_id)
        if account is None or private is None:
            return
        yield ExportRecord("account.json", _plain(dict(account) | dict(private)))
        for row in await shard.fetch(QUERIES.list_former_usernames, account_id=account_id):
            yield ExportRecord("former_usernames.json", _plain(dict(row)))
        for of_programs, file in ((False, "sessions.json"), (True, "tokens.json")):
            for row in await shard.fetch(
                QUERIES.list_sessions, account_id=account_id, of_programs=of_programs
            ):
                yield ExportRecord(file, _plain(dict(row)))
        for row in await shard.fetch(QUERIES.list_invitations, account_id=account_id, limit=BATCH):
            shown = {name: row[name] for name in ("id", "max_uses", "use_count", "expires_at")}
            yield ExportRecord("invitations.json", _plain(shown))
        after = 0
        while rows := await shard.fetch(
            QUERIES.list_invitees, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["invitee_id"]
            for row in rows:
                yield ExportRecord("invited_accounts.json", {"account_id": str(row["invitee_id"])})
        for row in await shard.fetch(QUERIES.find_inviter, account_id=account_id):
            yield ExportRecord("invited_by.json", {"account_id": str(row["inviter_id"])})
        for row in await shard.fetch(QUERIES.list_passkeys, account_id=account_id):
            shown = {name: row[name] for name in ("id", "name", "created_at", "last_used_at")}
            yield ExportRecord("passkeys.json", _plain(shown))

    async def erase(self, account_id: AccountId) -> int:
        """Erase everything: claims first, then what the account owns, its own row last; returns how many rows.

        Each step can be repeated: while the row exists, it says which claims there are.
        """
        shard = self._deps.shards.owner(account_id)
        held = await shard.fetch_one(QUERIES.find_claimed, account_id=account_id)
        if held is not None:
            former = await shard.fetch(QUERIES.list_former_usernames, account_id=account_id)
            for name in {held["username"], *(row["username"] for row in former)}:
                await self._deps.usernames.release(name, account_id, at_once=True)
            for key in backed_keys(held["username"], held["email"], held["phone"], is_verified=True):
                await self._deps.contact_claims.release(key, account_id, at_once=True)
        await self._erase_invitations(account_id)
        async with shard.begin() as tx:
            if held is not None:
                await self._sessions.end_all_in(tx, account_id)
            erased = int(await tx.fetch_value(QUERIES.erase_owned_rows, account_id=account_id))
            erased += await tx.execute(QUERIES.erase_account, account_id=account_id)
        await self._directory.invalidate(account_id)
        return erased

    async def _erase_invitations(self, account_id: AccountId) -> None:
        """Who joined by this account's links, and by whose link it joined, is forgotten on the shards of the others.

        This account's own rows, which name those shards, are erased after them.
        """
        shards, own = self._deps.shards, self._deps.shards.owner(account_id)
        inviter = await own.fetch_value(QUERIES.find_inviter, account_id=account_id)
        if inviter is not None:
            await shards.owner(inviter).execute(
                QUERIES.erase_invitee, account_id=inviter, invitee_id=account_id
            )
        while rows := await own.fetch(QUERIES.list_invitees, account_id=account_id, after=0, limit=BATCH):
            for row in rows:
                invitee = row["invitee_id"]
                await shards.owner(invitee).execute(
                    QUERIES.erase_inviter, account_id=invitee, inviter_id=account_id
                )
                await own.execute(QUERIES.erase_invitee, account_id=account_id, invitee_id=invitee)

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of this account are left in this room; claims are released before its own row goes."""
        shard = self._deps.shards.owner(account_id)
        return int(await shard.fetch_value(QUERIES.count_left, account_id=account_id))


def _plain(row: dict[str, object]) -> dict[str, object]:
    plain: dict[str, object] = msgspec.to_builtins(row)
    return plain | {name: str(value) for name, value in plain.items() if name == "id"}
