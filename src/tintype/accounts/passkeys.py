"""Passkeys (WebAuthn): keys that never leave a device and answer challenges only for this site's own origin.

A challenge is stored when it is issued and consumed when it is answered, so an answer works once. As a sign-in of its
own the key must also have verified its user (fingerprint, face, PIN); as a second factor possession is enough.
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
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.errors import PasskeyNotFound, PasskeyRefused, TooManyPasskeys
from tintype.accounts.mail_queue import MailQueue
from tintype.accounts.models import Account, Passkey
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId, has_shard
from tintype.base.invisible_characters import remove_invisible
from tintype.base.json_depth import check_json_depth
from tintype.base.log import get_log

RP_NAME = "Tintype"
HANDLE_BYTES = 8
MAX_NAME_LENGTH, MAX_PASSKEYS, MAX_CREDENTIAL_BYTES = 100, 20, 1023
LOOPBACK = frozenset({"127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 - compared with, not bound to
T = TypeVar("T")
S = TypeVar("S")
log = get_log("accounts")


class Passkeys:
    """Adds, lists, renames, removes and verifies passkeys."""

    def __init__(self, deps: AccountsDependencies, challenges: Challenges, mail_queue: MailQueue) -> None:
        self._deps, self._challenges, self._mail_queue = deps, challenges, mail_queue
        parts = urlsplit(deps.public_url)
        # WebAuthn binds a key to a domain, never to an IP address; browsers treat localhost as secure.
        self._rp_id = "localhost" if parts.hostname in LOOPBACK else str(parts.hostname)
        port = f":{parts.port}" if parts.port else ""
        self.origin = f"{parts.scheme}://{self._rp_id}{port}"

    async def creation_options(self, account: Account) -> dict[str, Any]:
        """WebAuthn creation options: what a browser needs to make a new key."""
        challenge = await self._challenges.create("add_passkey", account.id)
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
        """Verify the browser's answer and store the new key."""
        credential = _parse(parse_registration_credential_json, answer)
        challenge = await self._consume_challenge("add_passkey", credential, account_id)
        try:
            made = verify_registration_response(
                credential=credential,
                expected_challenge=base64url_to_bytes(challenge),
                expected_rp_id=self._rp_id,
                expected_origin=self.origin,
            )
        except Exception as error:  # the library lets errors of its parsers through; all mean a bad answer
            raise PasskeyRefused(error=str(error)) from error
        if len(made.credential_id) > MAX_CREDENTIAL_BYTES:
            raise PasskeyRefused
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if len(await tx.fetch(QUERIES.list_passkeys, account_id=account_id)) >= MAX_PASSKEYS:
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
                raise PasskeyRefused("That passkey was added already.")
            await self._mail_queue.notify(tx, account_id, "passkey_added", detail=row["name"])
        log.info("passkey.added", account_id=account_id)
        return Passkey(**row)

    async def list(self, account_id: AccountId) -> list[Passkey]:
        """An account's passkeys, the oldest first."""
        rows = await self._deps.shards.owner(account_id).fetch(QUERIES.list_passkeys, account_id=account_id)
        return [msgspec.convert(dict(row), Passkey) for row in rows]

    async def rename(self, account_id: AccountId, passkey_id: int, name: str) -> None:
        """Change the name its owner knows a passkey by."""
        shard, name = self._deps.shards.owner(account_id), _check_name(name)
        if not await shard.fetch_one(QUERIES.rename_passkey, account_id=account_id, id=passkey_id, name=name):
            raise PasskeyNotFound

    async def remove(self, account_id: AccountId, passkey_id: int) -> None:
        """Remove a passkey; it cannot be used any more."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(QUERIES.remove_passkey, account_id=account_id, id=passkey_id)
            if row is None:
                raise PasskeyNotFound
            await self._mail_queue.notify(tx, account_id, "passkey_removed", detail=row["name"])
        log.info("passkey.removed", account_id=account_id)

    async def sign_in_options(self) -> dict[str, Any]:
        """WebAuthn request options for signing in with any passkey of this site."""
        return self._request_options(
            await self._challenges.create("passkey_sign_in", None), UserVerificationRequirement.REQUIRED
        )

    async def proof_options(self, account_id: AccountId) -> dict[str, Any]:
        """WebAuthn request options for this account's passkeys, as a second factor or to reauthenticate."""
        challenge = await self._challenges.create("passkey_proof", account_id)
        return self._request_options(
            challenge, UserVerificationRequirement.PREFERRED, await self._descriptors(account_id)
        )

    async def verify_sign_in(self, answer: dict[str, Any]) -> AccountId:
        """The account whose passkey answered a sign-in without a password."""
        credential = _parse(parse_authentication_credential_json, answer)
        challenge = await self._consume_challenge("passkey_sign_in", credential, None)
        handle = credential.response.user_handle or b""
        account_id = AccountId(int.from_bytes(handle)) if len(handle) == HANDLE_BYTES else AccountId(0)
        if account_id >> 63 or not has_shard(self._deps.shards, account_id):
            raise PasskeyRefused
        await self._verify(credential, challenge, account_id, verifies_user=True)
        return account_id

    async def verify_proof(self, answer: dict[str, Any], *, account_id: AccountId) -> None:
        """Raise `PasskeyRefused` unless a passkey of this account answered."""
        credential = _parse(parse_authentication_credential_json, answer)
        challenge = await self._consume_challenge("passkey_proof", credential, account_id)
        await self._verify(credential, challenge, account_id, verifies_user=False)

    async def _verify(
        self,
        credential: AuthenticationCredential,
        challenge: str,
        account_id: AccountId,
        *,
        verifies_user: bool,
    ) -> None:
        shard = self._deps.shards.owner(account_id)
        key = {"account_id": account_id, "credential_id": credential.raw_id}
        stored = await shard.fetch_one(QUERIES.find_passkey, **key)
        if stored is None:
            raise PasskeyRefused
        try:
            verified = verify_authentication_response(
                credential=credential,
                expected_challenge=base64url_to_bytes(challenge),
                expected_rp_id=self._rp_id,
                expected_origin=self.origin,
                credential_public_key=stored["public_key"],
                credential_current_sign_count=stored["sign_count"],
                require_user_verification=verifies_user,
            )
        except Exception as error:  # as in `add`
            raise PasskeyRefused(error=str(error)) from error
        if not await shard.fetch_one(QUERIES.use_passkey, sign_count=verified.new_sign_count, **key):
            raise PasskeyRefused

    async def _consume_challenge(
        self,
        purpose: Purpose,
        credential: AuthenticationCredential | RegistrationCredential,
        account_id: AccountId | None,
    ) -> str:
        check_json_depth(credential.response.client_data_json)
        client_data = _parse(parse_client_data_json, credential.response.client_data_json)
        if _is_framed(credential.response.client_data_json):
            raise PasskeyRefused
        challenge = bytes_to_base64url(client_data.challenge)
        issued = await self._challenges.consume(purpose, challenge)
        if issued is None or issued.account_id != account_id:
            raise PasskeyRefused
        return challenge

    def _request_options(
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
        rows = await self._deps.shards.owner(account_id).fetch(QUERIES.list_passkeys, account_id=account_id)
        return [PublicKeyCredentialDescriptor(id=row["credential_id"]) for row in rows]


def _parse(parse: Callable[[S], T], answer: S) -> T:
    try:
        return parse(answer)
    except Exception as error:  # parsers of untrusted input: whatever they raise means a bad answer
        raise PasskeyRefused(error=str(error)) from error


def _is_framed(client_data_json: bytes) -> bool:
    """Whether the answer was given inside a frame of another site, which we never ask for (WebAuthn 3, 5.8.1)."""
    client_data = _parse(msgspec.json.decode, client_data_json)
    return bool(client_data.get("crossOrigin")) or "topOrigin" in client_data


def _check_name(name: str) -> str:
    chosen = " ".join(remove_invisible(name).split())
    if len(chosen) > MAX_NAME_LENGTH or "\0" in name:
        raise PasskeyRefused(f"A passkey's name has at most {MAX_NAME_LENGTH} characters.")
    return chosen or "Passkey"
