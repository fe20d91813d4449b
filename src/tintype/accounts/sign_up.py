"""Sign-up: creates an account under a username that nobody else has."""

from typing import TYPE_CHECKING

from tintype.accounts.errors import InvitationNeeded, RegistrationClosed, UsernameTaken
from tintype.accounts.events import AccountCreated
from tintype.accounts.identifiers import check_email
from tintype.accounts.invitations import Invitations, UsableInvitation
from tintype.accounts.models import Account, Caller, SignedIn
from tintype.accounts.parts import AccountsParts
from tintype.accounts.profile import check_full_name
from tintype.accounts.store import QUERIES
from tintype.accounts.username_rules import check_username
from tintype.accounts.usernames import Usernames
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.settings import Registration

if TYPE_CHECKING:
    from shardwright.routing import Shard

NOBODY = AccountId(0)
log = get_log("accounts")


class SignUp:
    """Creates accounts."""

    def __init__(self, parts: AccountsParts, usernames: Usernames, invitations: Invitations) -> None:
        self._deps, self._sessions, self._usernames = parts.deps, parts.sessions, usernames
        self._invitations, self._directory = invitations, parts.directory
        self._mail_queue, self._limits, self._devices = parts.mail_queue, parts.limits, parts.devices

    async def admit(self, code: str) -> UsableInvitation | None:
        """The invitation with this code, or none where the site needs none; raises where one may not join without."""
        if self._deps.settings.registration == "closed":
            raise RegistrationClosed
        if code:
            return await self._invitations.get_usable(code)
        if await self.registration() == "invitation":
            raise InvitationNeeded
        return None

    async def registration(self) -> Registration:
        """Who may join now. Where an invitation is needed, the first account needs none: nobody could give it one."""
        chosen = self._deps.settings.registration
        if chosen == "invitation" and not await self._directory.exist_others(NOBODY, besides=frozenset()):
            return "open"
        return chosen

    async def sign_up(
        self,
        username: str,
        password: str,
        *,
        full_name: str,
        email: str | None,
        caller: Caller,
        invitation: UsableInvitation | None = None,
    ) -> SignedIn:
        """Create an account and sign it in.

        Username and account live on different shards, so the name is claimed first, for an id drawn in advance; a
        claim without an account (the process died in between) is taken over by the next caller who wants the name. An
        email address is not claimed here: it counts once it was confirmed, so a taken one is answered like any other.
        """
        username, full_name = check_username(username), check_full_name(full_name)
        address = check_email(email) if email else None
        await self._deps.passwords.check(password, own=[username, address or "", full_name])
        await self._limits.sign_up(caller)
        if address:
            await self._limits.request_confirmation(address, None, caller)
        password_hash = await self._deps.passwords.hash(password)
        shard = self._deps.shards.place()
        account_id = AccountId(await shard.fetch_value(QUERIES.draw_account_id))
        await self._usernames.check_lookalike(username, account_id)
        if await self._deps.usernames.acquire(username, account_id) is None:
            raise UsernameTaken
        values: dict[str, object] = {
            "id": account_id,
            "username": username,
            "full_name": full_name,
            "password_hash": password_hash,
            "pending_email": address,
        }
        if invitation is None:
            return await self._create(shard, values, caller)
        await self._invitations.claim(invitation, account_id)
        try:
            return await self._create(shard, values, caller, invitation)
        except Unavailable:  # raised before the commit; after any other failure the account may exist
            await self._invitations.release(invitation, account_id)
            raise

    async def _create(
        self,
        shard: "Shard",
        values: dict[str, object],
        caller: Caller,
        invitation: UsableInvitation | None = None,
    ) -> SignedIn:
        async with shard.begin() as tx:
            row = await tx.fetch_one(QUERIES.create_account, **values)
            if row is None:
                raise Unavailable("Signing up took too long; please try again in a minute.")
            account = Account(**row)
            await self._devices.record(tx, account.id, caller)
            token = await self._sessions.start(tx, account.id, device=caller.device)
            if values["pending_email"]:
                await self._mail_queue.enqueue(tx, account.id, "confirm_email", str(values["pending_email"]))
            if invitation is not None:
                await self._invitations.record(tx, invitation, account.id)
            await self._deps.outbox.add(tx, AccountCreated(account.id))
        log.info("account.created", account_id=account.id, shard=shard.number)
        return SignedIn(account, token)
