"""Accounts: who people are here and how they prove it.

Owns accounts and sessions (on the account's shard) and usernames (on the shard their hash gives).
"""

from tintype.accounts.errors import (
    AccountNotFound,
    CredentialsWrong,
    PasswordRefused,
    UsernameRefused,
    UsernameTaken,
)
from tintype.accounts.events import (
    AccountChanged,
    AccountCreated,
    PrivacyChanged,
    SessionsEnded,
    StatusChanged,
)
from tintype.accounts.models import Account, SignedIn
from tintype.accounts.service import QUERIES, Accounts

__all__ = [
    "QUERIES",
    "Account",
    "AccountChanged",
    "AccountCreated",
    "AccountNotFound",
    "Accounts",
    "CredentialsWrong",
    "PasswordRefused",
    "PrivacyChanged",
    "SessionsEnded",
    "SignedIn",
    "StatusChanged",
    "UsernameRefused",
    "UsernameTaken",
]
