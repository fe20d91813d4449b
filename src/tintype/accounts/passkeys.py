"""Passkeys (WebAuthn): keys that never leave a device and answer questions only for this site's own address.

A question is stored when it is asked and taken when it is answered, so an answer works once. As a sign-in of its own
the key must also have verified its person (a finger, a face, a PIN); as a second factor possession is enough.
"""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    options_to_json_dict,
    parse_authentication_credential_json,
    parse_client_data_json,
    parse_registration_credential_json,
)
from webauthn.helpers.structs import (
    AuthenticationCredential,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    RegistrationCredential,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from tintype.accounts.challenges import Challenges, Purpose
from tintype.accounts.errors import PasskeyNotFound, PasskeyRefused
from tintype.accounts.ground import Ground
from tintype.accounts.models import Account, Passkey
from tintype.accounts.store import QUERIES
from tintype.base.errors import Conflict
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log

RP_NAME = "Tintype"
HANDLE_BYTES = 8
LONGEST_NAME, MOST_PASSKEYS, LONGEST_CREDENTIAL = 100, 20, 1023
LOOPBACK = frozenset({"127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - compared with, not bound to
T = TypeVar("T")
S = TypeVar("S")
log = get_log("accounts")


class TooManyPasskeys(Conflict):
    """There are 20 passkeys already; remove one first."""

    code = "too_many_passkeys"


class Passkeys:
    """Adds, lists, names, removes and asks passkeys."""

    def __init__(self, ground: Ground, challenges: Challenges) -> None:
        self._ground, self._challenges = ground, challenges
        parts = urlsplit(ground.address)
        # A key is bound to a name, never to an address of numbers; browsers treat localhost as safe.
        self._rp_id = "localhost" if parts.hostname in LOOPBACK else str(parts.hostname)
        port = f":{parts.port}" if parts.port else ""
        self.origin = f"{parts.scheme}://{self._rp_id}{port}"

    async def ask_new(self, account: Account) -> dict[str, Any]:
        """What a browser needs to make a new key."""
        challenge = await self._challenges.ask("add_passkey", account.id)
        options = generate_registration_options(
            rp_id=self._rp_id,
            rp_name=RP_NAME,
            user_name=account.username,
            user_id=account.id.to_bytes(HANDLE_BYTES),
            user_display_name=account.full_name or account.username,
            challenge=base64url_to_bytes(challenge),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.PREFERRED,
            ),
            exclude_credentials=await self._descriptors(account.id),
        )
        return options_to_json_dict(options)

    async def add(self, account_id: AccountId, answer: dict[str, Any], *, name: str) -> Passkey:
        """Keep a new key."""
        credential = _parse(parse_registration_credential_json, answer)
        challenge = await self._take("add_passkey", credential, account_id)
        try:
            made = verify_registration_response(
                credential=credential,
                expected_challenge=base64url_to_bytes(challenge),
                expected_rp_id=self._rp_id,
                expected_origin=self.origin,
            )
        except Exception as error:  # the library lets errors of its parsers through: all mean a bad answer
            raise PasskeyRefused(error=str(error)) from error
        if len(made.credential_id) > LONGEST_CREDENTIAL:
            raise PasskeyRefused
        async with self._ground.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if len(await tx.fetch(QUERIES.list_passkeys, account_id=account_id)) >= MOST_PASSKEYS:
                raise TooManyPasskeys
            row = await tx.fetch_one(
                QUERIES.add_passkey,
                account_id=account_id,
                credential_id=made.credential_id,
                public_key=made.credential_public_key,
                sign_count=made.sign_count,
                name=_check_name(name),
            )
        if row is None:
            raise PasskeyRefused("That passkey is there already.")
        log.info("passkey.added", account_id=account_id)
        return Passkey(**row)

    async def list(self, account_id: AccountId) -> list[Passkey]:
        """The keys of an account, the oldest first."""
        rows = await self._ground.shards.owner(account_id).fetch(QUERIES.list_passkeys, account_id=account_id)
        return [msgspec.convert(dict(row), Passkey) for row in rows]

    async def rename(self, account_id: AccountId, passkey_id: int, name: str) -> None:
        """A name its owner knows it by."""
        shard, name = self._ground.shards.owner(account_id), _check_name(name)
        if not await shard.fetch_one(QUERIES.rename_passkey, account_id=account_id, id=passkey_id, name=name):
            raise PasskeyNotFound

    async def drop(self, account_id: AccountId, passkey_id: int) -> None:
        """The key opens nothing any more."""
        shard = self._ground.shards.owner(account_id)
        if not await shard.fetch_one(QUERIES.drop_passkey, account_id=account_id, id=passkey_id):
            raise PasskeyNotFound
        log.info("passkey.dropped", account_id=account_id)

    async def ask_sign_in(self) -> dict[str, Any]:
        """What a browser asks whichever key of this site it holds."""
        return self._question(
            await self._challenges.ask("passkey_sign_in", None), UserVerificationRequirement.REQUIRED
        )

    async def ask_proof(self, account_id: AccountId) -> dict[str, Any]:
        """What a browser asks the keys of this account, as a second factor or a proof."""
        challenge = await self._challenges.ask("passkey_proof", account_id)
        return self._question(
            challenge, UserVerificationRequirement.PREFERRED, await self._descriptors(account_id)
        )

    async def check_sign_in(self, answer: dict[str, Any]) -> AccountId:
        """The account whose key answered, by itself."""
        credential = _parse(parse_authentication_credential_json, answer)
        challenge = await self._take("passkey_sign_in", credential, None)
        handle = credential.response.user_handle or b""
        account_id = AccountId(int.from_bytes(handle)) if len(handle) == HANDLE_BYTES else AccountId(0)
        if account_id >> 63 or not has_shard(self._ground.shards, account_id):
            raise PasskeyRefused
        await self._verify(credential, challenge, account_id, is_alone=True)
        return account_id

    async def check_answer(self, answer: dict[str, Any], *, account_id: AccountId) -> None:
        """A key of this account answered."""
        credential = _parse(parse_authentication_credential_json, answer)
        challenge = await self._take("passkey_proof", credential, account_id)
        await self._verify(credential, challenge, account_id, is_alone=False)

    async def _verify(
        self, credential: AuthenticationCredential, challenge: str, account_id: AccountId, *, is_alone: bool
    ) -> None:
        shard = self._ground.shards.owner(account_id)
        key = {"account_id": account_id, "credential_id": credential.raw_id}
        held = await shard.fetch_one(QUERIES.find_passkey, **key)
        if held is None:
            raise PasskeyRefused
        try:
            seen = verify_authentication_response(
                credential=credential,
                expected_challenge=base64url_to_bytes(challenge),
                expected_rp_id=self._rp_id,
                expected_origin=self.origin,
                credential_public_key=held["public_key"],
                credential_current_sign_count=held["sign_count"],
                require_user_verification=is_alone,
            )
        except Exception as error:  # as above
            raise PasskeyRefused(error=str(error)) from error
        if not await shard.fetch_one(QUERIES.use_passkey, sign_count=seen.new_sign_count, **key):
            raise PasskeyRefused

    async def _take(
        self,
        purpose: Purpose,
        credential: AuthenticationCredential | RegistrationCredential,
        account_id: AccountId | None,
    ) -> str:
        client_data = _parse(parse_client_data_json, credential.response.client_data_json)
        challenge = bytes_to_base64url(client_data.challenge)
        asked = await self._challenges.take(purpose, challenge)
        if asked is None or asked.account_id != account_id:
            raise PasskeyRefused
        return challenge

    def _question(
        self,
        challenge: str,
        verification: UserVerificationRequirement,
        allowed: "list[PublicKeyCredentialDescriptor] | None" = None,
    ) -> dict[str, Any]:
        return options_to_json_dict(
            generate_authentication_options(
                rp_id=self._rp_id,
                challenge=base64url_to_bytes(challenge),
                allow_credentials=allowed,
                user_verification=verification,
            )
        )

    async def _descriptors(self, account_id: AccountId) -> "list[PublicKeyCredentialDescriptor]":
        rows = await self._ground.shards.owner(account_id).fetch(QUERIES.list_passkeys, account_id=account_id)
        return [PublicKeyCredentialDescriptor(id=row["credential_id"]) for row in rows]


def _parse(parse: Callable[[S], T], answer: S) -> T:
    try:
        return parse(answer)
    except Exception as error:  # parsers of what anybody may send: whatever they raise means a bad answer
        raise PasskeyRefused(error=str(error)) from error


def _check_name(name: str) -> str:
    chosen = name.strip()
    if len(chosen) > LONGEST_NAME or "\0" in chosen:
        raise PasskeyRefused(f"A passkey's name has at most {LONGEST_NAME} characters.")
    return chosen or "Passkey"
