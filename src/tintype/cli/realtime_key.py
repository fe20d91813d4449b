"""`tintype realtime-key`: the public key that NATS servers of one's own are configured with."""

from tintype.base.secret_key import secret_key
from tintype.base.settings import load_settings


def realtime_key() -> None:
    """Print the public key that admits devices to live connections, for `issuer` in the configuration of NATS."""
    from tintype.base.nats_keys import IssuerKey  # noqa: PLC0415 - slow to import: paid only by those who need it

    print(IssuerKey(secret_key(load_settings().settings)).public)
