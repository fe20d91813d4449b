"""Accounts: who people are here and how they prove it.

Owns accounts and everything that belongs to one (sessions, mails, second factors, passkeys; on the account's shard),
and the claims that keep usernames, email addresses and phone numbers unique (on the shard their hash gives).
"""

from tintype.accounts.authentication import Authentication
from tintype.accounts.counters import FOLLOWER_COUNT, FOLLOWING_COUNT, POST_COUNT, StoredCount
from tintype.accounts.credentials import Credentials
from tintype.accounts.errors import (
    AccountGone,
    AccountNotFound,
    AccountSuspended,
    CredentialsWrong,
    FactorNeeded,
    InvitationNeeded,
    InvitationNotFound,
    PasswordRefused,
    ProofNeeded,
    ProofWrong,
    RegistrationClosed,
    ScopeMissing,
    SecondFactorRequired,
    SessionNotFound,
    TooManyInvitations,
    UsernameRefused,
    UsernameTaken,
)
from tintype.accounts.events import (
    AccountChanged,
    AccountCreated,
    InvitationAccepted,
    MailWanted,
    PrivacyChanged,
    ResetAsked,
    SessionsEnded,
    StatusChanged,
)
from tintype.accounts.invitations import Invitations, UsableInvitation, invitation_code
from tintype.accounts.mailers import SmtpMailer
from tintype.accounts.models import (
    Account,
    AccountCounts,
    AuthenticatedSession,
    Caller,
    IdentityProof,
    Invitation,
    LockedAccount,
    Passkey,
    PrivateDetails,
    ProfileUpdate,
    Role,
    Session,
    SignedIn,
    Status,
)
from tintype.accounts.parts import AccountsParts, build_accounts_parts
from tintype.accounts.service import Accounts
from tintype.accounts.sessions import needs_renewal
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import hash_token

__all__ = [
    "FOLLOWER_COUNT",
    "FOLLOWING_COUNT",
    "POST_COUNT",
    "QUERIES",
    "Account",
    "AccountChanged",
    "AccountCounts",
    "AccountCreated",
    "AccountGone",
    "AccountNotFound",
    "AccountSuspended",
    "Accounts",
    "AccountsParts",
    "AuthenticatedSession",
    "Authentication",
    "Caller",
    "Credentials",
    "CredentialsWrong",
    "FactorNeeded",
    "IdentityProof",
    "Invitation",
    "InvitationAccepted",
    "InvitationNeeded",
    "InvitationNotFound",
    "Invitations",
    "LockedAccount",
    "MailWanted",
    "Passkey",
    "PasswordRefused",
    "PrivacyChanged",
    "PrivateDetails",
    "ProfileUpdate",
    "ProofNeeded",
    "ProofWrong",
    "RegistrationClosed",
    "ResetAsked",
    "Role",
    "ScopeMissing",
    "SecondFactorRequired",
    "Session",
    "SessionNotFound",
    "SessionsEnded",
    "SignedIn",
    "SmtpMailer",
    "Status",
    "StatusChanged",
    "StoredCount",
    "TooManyInvitations",
    "UsableInvitation",
    "UsernameRefused",
    "UsernameTaken",
    "build_accounts_parts",
    "hash_token",
    "invitation_code",
    "needs_renewal",
]
