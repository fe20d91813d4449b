"""The front door of accounts: sign-up, lookups, profiles, usernames, contact details and status."""

from collections.abc import Iterable, Mapping, Sequence

from argon2 import PasswordHasher

from shardwright.routing import Transaction
from tintype.accounts import counters
from tintype.accounts.contact_details import ContactDetails
from tintype.accounts.events import (
    AccountChanged,
    InvitationAccepted,
    MailWanted,
    StatusChanged,
)
from tintype.accounts.invitations import Invitations
from tintype.accounts.mail_templates import Notice
from tintype.accounts.mailers import Mailer
from tintype.accounts.models import (
    LOCAL_CALLER,
    Account,
    Caller,
    LockedAccount,
    PrivateDetails,
    ProfileUpdate,
    Role,
    SignedIn,
    Status,
)
from tintype.accounts.parts import AccountsParts
from tintype.accounts.personal_data import AccountPersonalData
from tintype.accounts.profile import ProfileEditor
from tintype.accounts.retention import purge_expired
from tintype.accounts.sign_up import SignUp
from tintype.accounts.username_lookup import UsernameLookup
from tintype.accounts.usernames import Usernames
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.settings import Registration
from tintype.redis.client import Command
from tintype.redis.leased_cache import CacheSource

HOUR_S = 3_600.0


class Accounts:
    """Creates, finds, changes and closes accounts."""

    def __init__(self, parts: AccountsParts) -> None:
        deps, directory, limits = parts.deps, parts.directory, parts.limits
        self.personal_data = AccountPersonalData(deps, directory, parts.sessions)
        self._deps, self._directory, self._mail_queue = deps, directory, parts.mail_queue
        self._username_lookup = UsernameLookup(directory, deps.cache)
        self._profile = ProfileEditor(deps, directory)
        self._usernames = Usernames(deps, directory, limits)
        self._contact_details = ContactDetails(deps, parts.mail_queue, limits)
        self._status = parts.status
        self.invitations = Invitations(deps, parts.status)
        self._sign_up = SignUp(parts, self._usernames, self.invitations)

    # Finding accounts.

    @property
    def source(self) -> CacheSource[AccountId, Account]:
        """Cached accounts, for readers that fetch several kinds of values in one round trip."""
        return self._directory.source

    async def find_id(self, username: str) -> AccountId | None:
        """The id of the account that holds a username, in upper or lower case."""
        return await self._directory.find_id(username)

    async def get(self, account_id: AccountId, *, with_counts: bool = True) -> Account:
        """One account, in any status; without its current counts where they are not needed."""
        return await self._directory.get(account_id, with_counts=with_counts)

    async def get_by_name(self, username: str) -> Account:
        """One account by its username, in any status."""
        return await self._directory.get_by_name(username)

    async def find_many(self, ids: Iterable[AccountId]) -> dict[AccountId, Account]:
        """Those of the accounts that exist, in any status; without their current counts."""
        return await self._directory.find_many(ids)

    async def add_counts(self, accounts: Mapping[AccountId, Account]) -> dict[AccountId, Account]:
        """The same accounts with their current counts."""
        return await self._directory.add_counts(accounts)

    async def find_by_usernames(self, usernames: Iterable[str]) -> dict[str, Account]:
        """The accounts that have these usernames now, active or not; give the usernames in lower case."""
        return await self._username_lookup.find(usernames)

    async def list_newest(self, *, role: Role | None, limit: int) -> list[Account]:
        """The newest accounts of the installation, all or those of one role, for operators."""
        return await self._directory.list_newest(role=role, limit=limit)

    async def list_most_followed(self, limit: int) -> list[tuple[AccountId, int]]:
        """The public accounts with the most followers, with their number: reads every shard, for background work."""
        return await self._directory.list_most_followed(limit)

    async def exist_others(self, account_id: AccountId, *, besides: frozenset[str]) -> bool:
        """Whether any account exists but this one and those with the given usernames."""
        return await self._directory.exist_others(account_id, besides=besides)

    async def invalidate(self, *ids: AccountId) -> None:
        """Drop these accounts from the cache after a committed change."""
        await self._directory.invalidate(*ids)

    async def invalidate_counts(self, *ids: AccountId, along: Sequence[Command] = ()) -> None:
        """Drop the counts of these accounts from the cache after a committed change of nothing else.

        The Redis commands `along`, which follow from the same change, go out in the same round trip.
        """
        await self._directory.invalidate_counts(*ids, along=along)

    async def drop_outdated(self, ids: Iterable[AccountId]) -> None:
        """Drop counts from the cache that differ from their rows; for handlers that repair."""
        await self._directory.drop_outdated(ids)

    # Signing up.

    async def sign_up(
        self,
        username: str,
        password: str,
        *,
        full_name: str = "",
        email: str | None = None,
        caller: Caller = LOCAL_CALLER,
    ) -> SignedIn:
        """Create an account under a username that nobody else has, and sign it in; for the site's own programs."""
        return await self._sign_up.sign_up(
            username, password, full_name=full_name, email=email, caller=caller
        )

    async def join(
        self,
        username: str,
        password: str,
        *,
        full_name: str = "",
        email: str | None = None,
        invitation: str = "",
        caller: Caller = LOCAL_CALLER,
    ) -> SignedIn:
        """Sign up as a stranger does: where and how the site's setting `registration` allows it."""
        admitted = await self._sign_up.admit(invitation)
        return await self._sign_up.sign_up(
            username, password, full_name=full_name, email=email, caller=caller, invitation=admitted
        )

    async def registration(self) -> Registration:
        """Who may join now: everybody, whoever has an invitation, or nobody."""
        return await self._sign_up.registration()

    # Profile, username and contact details.

    async def get_private_details(self, account_id: AccountId) -> PrivateDetails:
        """The details of an account that only its owner sees."""
        return await self._profile.get_private(account_id)

    async def change_profile(self, account_id: AccountId, change: ProfileUpdate) -> Account:
        """Change the fields that are given; the rest stays."""
        return await self._profile.change(account_id, change)

    async def set_avatar(self, account_id: AccountId, folder: str | None) -> str | None:
        """Set or remove the avatar; returns the folder of the previous one."""
        return await self._profile.set_avatar(account_id, folder)

    async def rename(self, account_id: AccountId, username: str) -> Account:
        """Change the username; the old one stays reserved for 14 days."""
        return await self._usernames.rename(account_id, username)

    async def verify(self, account_id: AccountId, *, is_verified: bool) -> None:
        """Mark an account as verified, or no longer; while it is, names that look like its own are refused."""
        await self._usernames.verify(account_id, is_verified=is_verified)

    async def is_username_available(self, username: str, caller: Caller) -> bool:
        """Whether a username is free; usernames are public, so the answer reveals nothing."""
        return await self._usernames.is_available(username, caller)

    async def request_email(self, account_id: AccountId, email: str, caller: Caller) -> None:
        """Send a confirmation link to an address; it counts once the link was followed."""
        await self._contact_details.request_email(account_id, email, caller)

    async def confirm_email(self, token: str) -> None:
        """Use the link of a confirmation mail: from now on the address belongs to this account."""
        await self._contact_details.confirm_email(token)

    async def remove_email(self, account_id: AccountId) -> None:
        """The account has no email address any more, confirmed or pending."""
        await self._contact_details.remove_email(account_id)

    async def set_phone(self, account_id: AccountId, phone: str | None) -> None:
        """Set a phone number that no other account has, or remove it."""
        await self._contact_details.set_phone(account_id, phone)

    # Status, role and counts.

    async def suspend(self, account_id: AccountId) -> None:
        """Hide an account in whatever state and end its sessions; only `lift_suspension` and `restore` undo it."""
        await self._status.change(account_id, "suspend")

    async def lift_suspension(self, account_id: AccountId) -> None:
        """Let a suspended account be what its owner chose; nothing changes for another one."""
        await self._status.change(account_id, "lift_suspension")

    async def deactivate(self, account_id: AccountId) -> None:
        """Hide the account and end its sessions, until its owner signs in again."""
        await self._status.change(account_id, "deactivate")

    async def restore(self, account_id: AccountId) -> Status:
        """Lift a suspension, or else reactivate the account; returns the status that it has now."""
        return await self._status.change(account_id, "restore")

    async def set_role(self, account_id: AccountId, role: Role) -> None:
        """Make somebody a moderator, an operator, or an ordinary person again."""
        await self._status.set_role(account_id, role)

    async def begin_deletion(self, account_id: AccountId) -> None:
        """Hide the account and end its sessions; its data is erased later, unless its owner signs in again."""
        await self._status.change(account_id, "begin_deletion")

    async def lock(self, tx: Transaction, account_id: AccountId) -> LockedAccount | None:
        """Lock an account's row until this transaction ends; None when there is no such account."""
        return await self._status.lock(tx, account_id)

    async def read_privacy(self, account_id: AccountId) -> bool | None:
        """Whether an account is private now, bypassing the cache; None when there is no such account."""
        return await self._status.read_privacy(account_id)

    async def close(self, tx: Transaction, account_id: AccountId) -> None:
        """Set the status `gone` when this transaction commits: nobody can sign in again."""
        await self._status.close(tx, account_id)

    async def touch(self, tx: Transaction, account_id: AccountId) -> None:
        """Write an account's row anew, so that statements which began before this commit notice that they are late."""
        await self._status.touch(tx, account_id)

    async def change_post_count(self, tx: Transaction, account_id: AccountId, by: int) -> None:
        """Add `by` posts to an account's count when this transaction commits."""
        await counters.change_post_count(tx, account_id, by)

    async def change_follower_count(self, tx: Transaction, account_id: AccountId, by: int) -> None:
        """Add `by` followers to an account's count when this transaction commits."""
        await counters.change_follower_count(tx, account_id, by)

    async def change_following_count(self, tx: Transaction, account_id: AccountId, by: int) -> None:
        """Add `by` followees to an account's count when this transaction commits."""
        await counters.change_following_count(tx, account_id, by)

    # Mail, jobs and set-up.

    async def notify_owner(self, tx: Transaction, account_id: AccountId, notice: Notice) -> None:
        """Tell the owner of an account of a change by mail once this transaction has committed."""
        await self._mail_queue.notify(tx, account_id, notice)

    async def purge_expired(self) -> None:
        """Delete expired sessions, mails and challenges, one batch per shard."""
        await purge_expired(self._deps.shards)

    async def release_expired_usernames(self) -> None:
        """Make former usernames whose 14 days are over available to everybody."""
        await self._usernames.release_expired()

    async def send_mail(self, wanted: MailWanted) -> None:
        """Send a queued mail, unless it was sent already or has expired."""
        await self._mail_queue.send(wanted)

    def use_hasher(self, hasher: PasswordHasher) -> None:
        """Hash passwords with these costs from now on; older hashes stay valid."""
        self._deps.passwords.use_hasher(hasher)

    def use_mailer(self, mailer: Mailer) -> None:
        """Send mail through this mailer from now on."""
        self._mail_queue.use_mailer(mailer)

    def handlers(self) -> list[Handler]:
        """The room's event handlers."""
        return [
            on(MailWanted, self.send_mail, name="accounts-mail", concurrency=8),
            on(InvitationAccepted, self.invitations.confirm, name="accounts-invitations"),
            on(AccountChanged, self._invalidate_changed, name="accounts-cards"),
            on(StatusChanged, self._invalidate_changed, name="accounts-standing"),
        ]

    def schedules(self) -> list[Schedule]:
        """The room's periodic jobs."""
        return [
            Schedule("accounts-names", HOUR_S, self.release_expired_usernames),
            Schedule("accounts-purge", HOUR_S, self.purge_expired),
        ]

    async def _invalidate_changed(self, changed: AccountChanged | StatusChanged) -> None:
        await self._directory.invalidate(changed.account_id)
