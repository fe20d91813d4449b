"""Sign-up: an account under a name that nobody else has."""

from typing import TYPE_CHECKING

from tintype.accounts.contacts import check_email
from tintype.accounts.doors import Doors
from tintype.accounts.errors import UsernameTaken
from tintype.accounts.events import AccountCreated
from tintype.accounts.ground import Ground
from tintype.accounts.mailing import Mailing
from tintype.accounts.models import Account, Caller, SignedIn
from tintype.accounts.names import check_username
from tintype.accounts.profiles import Profiles, check_full_name
from tintype.accounts.sessions import Sessions
from tintype.accounts.store import QUERIES
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId
from tintype.base.log import get_log

if TYPE_CHECKING:
    from shardwright.running import Shard

log = get_log("accounts")


class Joining:
    """Takes people in."""

    def __init__(
        self, ground: Ground, sessions: Sessions, *, profiles: Profiles, mailing: Mailing, doors: Doors
    ) -> None:
        self._ground, self._sessions, self._profiles = ground, sessions, profiles
        self._mailing, self._doors = mailing, doors

    async def sign_up(
        self, username: str, password: str, *, full_name: str, email: str | None, caller: Caller
    ) -> SignedIn:
        """Create an account and sign it in.

        Username and account live on different shards, so the name is claimed first, for an id drawn ahead; a claim
        without an account (we were killed in between) is taken over by the next one who asks for the name. An email
        address is not claimed here: it counts once it was confirmed, so a taken one is answered like any other.
        """
        username, full_name = check_username(username), check_full_name(full_name)
        address = check_email(email) if email else None
        await self._ground.passwords.check(password, own=[username, address or "", full_name])
        await self._doors.join(caller)
        if address:
            await self._doors.ask_for_mail(address, caller)
        password_hash = await self._ground.passwords.hash(password)
        home = self._ground.shards.place()
        account_id = AccountId(await home.fetch_value(QUERIES.draw_account_id))
        await self._profiles.check_look(username, account_id)
        if await self._ground.usernames.make(username, account_id) is None:
            raise UsernameTaken
        return await self._create(
            home,
            {
                "id": account_id,
                "username": username,
                "full_name": full_name,
                "password_hash": password_hash,
                "pending_email": address,
            },
            caller,
        )

    async def _create(self, home: "Shard", values: dict[str, object], caller: Caller) -> SignedIn:
        async with home.begin() as tx:
            row = await tx.fetch_one(QUERIES.create_account, **values)
            if row is None:
                raise Unavailable("Signing up took too long; please try again in a minute.")
            account = Account(**row)
            token = await self._sessions.start(tx, account.id, device=caller.device)
            if values["pending_email"]:
                await self._mailing.want(tx, account.id, "confirm_email", str(values["pending_email"]))
            await self._ground.outbox.add(tx, AccountCreated(account.id))
        log.info("account.created", account_id=account.id, shard=home.number)
        return SignedIn(account, token)
