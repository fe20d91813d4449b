"""Accounts: who people are here and how they prove it.

Owns accounts and everything that belongs to one (sessions, mails, passkeys …, on the account's shard), and the claims
of names and addresses (on the shard their hash gives).
"""

from tintype.accounts.errors import (
    AccountNotFound,
    CredentialsWrong,
    PasswordRefused,
    ProofNeeded,
    ProofWrong,
    ScopeMissing,
    SecondFactorRequired,
    SessionNotFound,
    UsernameRefused,
    UsernameTaken,
)
from tintype.accounts.events import (
    AccountChanged,
    AccountCreated,
    MailWanted,
    PrivacyChanged,
    ResetAsked,
    SessionsEnded,
    StatusChanged,
)
from tintype.accounts.models import (
    Account,
    Caller,
    Pass,
    Passkey,
    PrivateDetails,
    Role,
    Session,
    SignedIn,
    Status,
)
from tintype.accounts.service import Accounts
from tintype.accounts.sessions import is_due, is_proved
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import hash_token

__all__ = [
    "QUERIES",
    "Account",
    "AccountChanged",
    "AccountCreated",
    "AccountNotFound",
    "Accounts",
    "Caller",
    "CredentialsWrong",
    "MailWanted",
    "Pass",
    "Passkey",
    "PasswordRefused",
    "PrivacyChanged",
    "PrivateDetails",
    "ProofNeeded",
    "ProofWrong",
    "ResetAsked",
    "Role",
    "ScopeMissing",
    "SecondFactorRequired",
    "Session",
    "SessionNotFound",
    "SessionsEnded",
    "SignedIn",
    "Status",
    "StatusChanged",
    "UsernameRefused",
    "UsernameTaken",
    "hash_token",
    "is_due",
    "is_proved",
]
