"""The front door of accounts: sign-up and sign-in, sessions and credentials, profiles, status, and lookups."""

from collections.abc import AsyncIterator, Collection, Iterable
from typing import Any

from argon2 import PasswordHasher

from shardwright.routing import Shards, Transaction
from tintype.accounts import counters
from tintype.accounts.api_tokens import ApiTokens
from tintype.accounts.challenges import Challenges
from tintype.accounts.contact_details import ContactDetails
from tintype.accounts.credentials import Credentials
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.directory import Directory
from tintype.accounts.encryption import SecretBox
from tintype.accounts.events import (
    AccountChanged,
    MailWanted,
    PrivacyChanged,
    ResetAsked,
    SessionsEnded,
    StatusChanged,
)
from tintype.accounts.known_devices import KnownDevices
from tintype.accounts.mail_queue import MailQueue
from tintype.accounts.mailers import Mailer, open_mailer
from tintype.accounts.models import (
    Account,
    AuthenticatedSession,
    Caller,
    LockedAccount,
    Passkey,
    PrivateDetails,
    Role,
    Session,
    SignedIn,
    Status,
)
from tintype.accounts.passkeys import Passkeys
from tintype.accounts.passwords import Passwords
from tintype.accounts.personal_data import AccountPersonalData
from tintype.accounts.profile import ProfileEditor
from tintype.accounts.rate_limits import AuthRateLimits
from tintype.accounts.retention import purge_expired
from tintype.accounts.sessions import Sessions
from tintype.accounts.sign_in import SignIn
from tintype.accounts.sign_up import SignUp
from tintype.accounts.status import AccountStatus
from tintype.accounts.totp import Totp
from tintype.accounts.unique_claims import contact_claims, username_claims
from tintype.accounts.username_lookup import UsernameLookup
from tintype.accounts.usernames import Usernames
from tintype.base.ids import AccountId
from tintype.base.jobs import Handler, Schedule, on
from tintype.base.listeners import Listeners
from tintype.base.outbox import Outbox
from tintype.base.personal_data import ExportRecord
from tintype.base.secret_key import secret_key
from tintype.base.settings import Settings
from tintype.redis.leased_cache import CacheSource, LeasedCache
from tintype.redis.rate_limits import RateLimiter

HOUR_S = 3_600.0
LOCAL_CALLER = Caller()


class Accounts:
    """Accounts, and how people prove who they are."""

    def __init__(
        self, shards: Shards, outbox: Outbox, cache: LeasedCache, limiter: RateLimiter, *, settings: Settings
    ) -> None:
        self._shards = shards
        self.privacy_changed: Listeners[PrivacyChanged] = Listeners()
        self._passwords = Passwords(range_url=settings.password_range_url)
        secret_box = SecretBox(secret_key(settings))
        deps = AccountsDependencies(
            shards=shards,
            outbox=outbox,
            cache=cache,
            limiter=limiter,
            settings=settings,
            secret_box=secret_box,
            passwords=self._passwords,
            usernames=username_claims(shards),
            contact_claims=contact_claims(shards),
        )
        self._directory = Directory(deps)
        self._username_lookup = UsernameLookup(self._directory, cache)
        self._devices = KnownDevices(secret_box)
        self._limits = limits = AuthRateLimits(limiter, self._devices)
        challenges = Challenges(deps)
        self._sessions = sessions = Sessions(deps)
        self._api_tokens = ApiTokens(deps, sessions)
        self._mail_queue = MailQueue(deps, open_mailer(settings))
        self._profile = ProfileEditor(deps, self._directory)
        self._usernames = Usernames(deps, self._directory, limits)
        self._contact_details = ContactDetails(deps, self._mail_queue, limits)
        self._totp = Totp(deps)
        self._passkeys = Passkeys(deps, challenges)
        self._status = AccountStatus(deps, self._directory, sessions)
        self._personal_data = AccountPersonalData(deps, self._directory, sessions)
        self._sign_up = SignUp(
            deps, sessions, usernames=self._usernames, mail_queue=self._mail_queue, limits=limits
        )
        self._sign_in = SignIn(
            deps,
            self._directory,
            sessions,
            totp=self._totp,
            passkeys=self._passkeys,
            challenges=challenges,
            limits=limits,
        )
        self._credentials = Credentials(
            deps,
            self._directory,
            sessions,
            mail_queue=self._mail_queue,
            totp=self._totp,
            passkeys=self._passkeys,
            limits=limits,
        )

    # Finding accounts.

    @property
    def source(self) -> CacheSource[AccountId, Account]:
        """Cached accounts, for readers that fetch several kinds of values in one round trip."""
        return self._directory.source

    async def find_id(self, username: str) -> AccountId | None:
        """The id of the account that holds a username, in upper or lower case."""
        return await self._directory.find_id(username)

    async def get(self, account_id: AccountId) -> Account:
        """One account, in any status."""
        return await self._directory.get(account_id)

    async def get_by_name(self, username: str) -> Account:
        """One account by its username, in any status."""
        return await self._directory.get_by_name(username)

    async def find_many(self, ids: Iterable[AccountId]) -> dict[AccountId, Account]:
        """Those of the accounts that exist, in any status."""
        return await self._directory.find_many(ids)

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

    # Signing up and in.

    async def sign_up(
        self,
        username: str,
        password: str,
        *,
        full_name: str = "",
        email: str | None = None,
        caller: Caller = LOCAL_CALLER,
    ) -> SignedIn:
        """Create an account under a username that nobody else has, and sign it in."""
        return await self._sign_up.sign_up(
            username, password, full_name=full_name, email=email, caller=caller
        )

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
        """The session of a token and its account, if the session has not ended and the account is active."""
        return await self._sessions.authenticate(token, self._directory.source)

    def authenticate_cached(self, token_hash: str) -> tuple[AuthenticatedSession, Account] | None:
        """As `authenticate`, from the client-side cache alone; `redis/client_cache.py` says who may rely on it."""
        return self._sessions.authenticate_cached(token_hash, self._directory.client_cached)

    async def load_client_cache(self, token: str) -> None:
        """Read the session of a token and its account into the client-side cache, if they exist."""
        await self._sessions.load_client_cache(token, self._directory.source)

    async def find_account_by_token(self, token: str) -> Account | None:
        """The account of a session token, if it is valid and the account is active."""
        found = await self.authenticate(token)
        return found[1] if found else None

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

    async def end_other_sessions(self, session: AuthenticatedSession) -> None:
        """End every session of the account but this one; API tokens stay."""
        await self._sessions.end_others(session)

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

    # Credentials and second factors.

    async def reauthenticate(
        self,
        token: str,
        session: AuthenticatedSession,
        *,
        password: str = "",
        code: str = "",
        passkey: dict[str, Any] | None = None,
    ) -> None:
        """Prove again who is signed in, by password, code or passkey; for some minutes credentials may be changed."""
        await self._credentials.reauthenticate(token, session, password=password, code=code, passkey=passkey)

    async def check_password(self, account_id: AccountId, password: str) -> None:
        """Raise `ProofWrong` for a wrong password, and `RateLimited` after too many attempts."""
        await self._credentials.check_password(account_id, password)

    async def change_password(self, session: AuthenticatedSession, current: str, new: str) -> None:
        """Set a new password; every other session ends, this one stays."""
        await self._credentials.change_password(session, current, new)

    async def request_password_reset(self, identifier: str, caller: Caller) -> None:
        """Mail a reset link to whoever has this username, email address or phone number, if anybody does."""
        await self._credentials.request_reset(identifier, caller)

    async def reset_password(self, token: str, new: str) -> None:
        """Use a reset link: set a new password and end every session."""
        await self._credentials.reset_password(token, new)

    async def begin_totp_setup(self, account_id: AccountId, username: str) -> tuple[str, str, str]:
        """A new authenticator secret as text, link and QR code; it is enabled by `confirm_totp`."""
        return await self._totp.begin_setup(account_id, username)

    async def confirm_totp(self, account_id: AccountId, code: str) -> list[str]:
        """Enable the authenticator with a code of it; returns the recovery codes, shown this once."""
        await self._limits.reauthenticate(account_id)
        return await self._totp.confirm(account_id, code)

    async def disable_totp(self, account_id: AccountId) -> None:
        """Disable the authenticator and delete its recovery codes."""
        await self._totp.disable(account_id)

    async def renew_recovery_codes(self, account_id: AccountId) -> list[str]:
        """New recovery codes; the old ones stop working."""
        return await self._totp.renew_codes(account_id)

    async def passkey_creation_options(self, account: Account) -> dict[str, Any]:
        """WebAuthn creation options: what a browser needs to make a new passkey."""
        return await self._passkeys.creation_options(account)

    async def passkey_proof_options(self, account_id: AccountId) -> dict[str, Any]:
        """WebAuthn request options for reauthenticating with a passkey of this account."""
        return await self._passkeys.proof_options(account_id)

    async def add_passkey(self, account_id: AccountId, answer: dict[str, Any], *, name: str) -> Passkey:
        """Verify the browser's answer and store the new passkey."""
        return await self._passkeys.add(account_id, answer, name=name)

    async def list_passkeys(self, account_id: AccountId) -> list[Passkey]:
        """An account's passkeys, the oldest first."""
        return await self._passkeys.list(account_id)

    async def rename_passkey(self, account_id: AccountId, passkey_id: int, name: str) -> None:
        """Change the name its owner knows a passkey by."""
        await self._passkeys.rename(account_id, passkey_id, name)

    async def remove_passkey(self, account_id: AccountId, passkey_id: int) -> None:
        """Remove a passkey; it cannot be used any more."""
        await self._passkeys.remove(account_id, passkey_id)

    # Profile, username and contact details.

    async def get_private_details(self, account_id: AccountId) -> PrivateDetails:
        """The details of an account that only its owner sees."""
        return await self._profile.get_private(account_id)

    async def change_profile(
        self,
        account_id: AccountId,
        *,
        full_name: str | None = None,
        bio: str | None = None,
        website: str | None = None,
        is_private: bool | None = None,
    ) -> Account:
        """Change the fields that are given; the rest stays."""
        changed = await self._profile.change(
            account_id, full_name=full_name, bio=bio, website=website, is_private=is_private
        )
        if is_private is not None:
            await self.privacy_changed.notify(PrivacyChanged(account_id, is_private))
        return changed

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

    async def set_status(self, account_id: AccountId, status: Status) -> None:
        """Change the status; any status but `active` ends all sessions and API tokens at once."""
        await self._status.set_status(account_id, status)

    async def set_role(self, account_id: AccountId, role: Role) -> None:
        """Make somebody a moderator, an operator, or an ordinary person again."""
        await self._status.set_role(account_id, role)

    async def begin_deletion(self, account_id: AccountId) -> None:
        """Hide the account and end its sessions; its data is erased later, unless its owner signs in again."""
        await self._status.set_status(account_id, "leaving")

    async def lock(self, tx: Transaction, account_id: AccountId) -> LockedAccount | None:
        """Lock an account's row until this transaction ends; None when there is no such account."""
        return await self._status.lock(tx, account_id)

    async def read_privacy(self, account_id: AccountId) -> bool | None:
        """Whether an account is private now, bypassing the cache; None when there is no such account."""
        return await self._status.read_privacy(account_id)

    async def close(self, tx: Transaction, account_id: AccountId) -> None:
        """Set the status `gone` when this transaction commits: nobody can sign in again."""
        await self._status.close(tx, account_id)

    async def change_post_count(self, tx: Transaction, account_id: AccountId, by: int) -> None:
        """Add `by` posts to an account's count when this transaction commits."""
        await counters.change_post_count(tx, account_id, by)

    async def change_follower_count(self, tx: Transaction, account_id: AccountId, by: int) -> None:
        """Add `by` followers to an account's count when this transaction commits."""
        await counters.change_follower_count(tx, account_id, by)

    async def change_following_count(self, tx: Transaction, account_id: AccountId, by: int) -> None:
        """Add `by` followees to an account's count when this transaction commits."""
        await counters.change_following_count(tx, account_id, by)

    # Personal data, jobs and set-up.

    def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Everything this room stores about a person, except hashes and secrets."""
        return self._personal_data.export(account_id)

    async def erase(self, account_id: AccountId) -> int:
        """Erase an account, its own row last: call it when every other room has erased its part."""
        return await self._personal_data.erase(account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How many rows of this account are left in this room."""
        return await self._personal_data.count_left(account_id)

    async def purge_expired(self) -> None:
        """Delete expired sessions, mails and challenges, one batch per shard."""
        await purge_expired(self._shards)

    async def release_expired_usernames(self) -> None:
        """Make former usernames whose 14 days are over available to everybody."""
        await self._usernames.release_expired()

    async def send_mail(self, wanted: MailWanted) -> None:
        """Send a queued mail, unless it was sent already or has expired."""
        await self._mail_queue.send(wanted)

    async def send_password_reset(self, asked: ResetAsked) -> None:
        """Mail the reset link, to a confirmed address only; a repeated event sends the same link."""
        await self._credentials.send_reset(asked)

    def use_hasher(self, hasher: PasswordHasher) -> None:
        """Hash passwords with these costs from now on; older hashes stay valid."""
        self._passwords.use_hasher(hasher)

    def use_mailer(self, mailer: Mailer) -> None:
        """Send mail through this mailer from now on."""
        self._mail_queue.use_mailer(mailer)

    def handlers(self) -> list[Handler]:
        """The room's event handlers."""
        return [
            on(MailWanted, self.send_mail, name="accounts-mail", concurrency=8),
            on(ResetAsked, self.send_password_reset, name="accounts-reset"),
            on(SessionsEnded, self._sessions.invalidate_ended, name="accounts-sessions"),
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
