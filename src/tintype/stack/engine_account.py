"""The system account that runs the embedded servers when Tintype is started by root.

It is created on first use, cannot sign in and owns nothing but the servers' folders: no other program shares it, so
none can read their data or signal them.
"""

from shardwright.local import SystemAccount, server_account

ENGINE_ACCOUNT = "tintype-engines"


def engine_account() -> SystemAccount | None:
    """The account for the embedded servers; None when we are not root and run them ourselves."""
    return server_account(ENGINE_ACCOUNT)
