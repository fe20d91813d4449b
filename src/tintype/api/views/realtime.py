"""What a device needs to hold a live connection."""

import msgspec


class ConnectTokenView(msgspec.Struct, frozen=True):
    """Credentials of one live connection."""

    username: str
    password: str
    client_id_prefix: str
    """The client id: this, and up to 40 letters, digits and underscores that the device chooses and keeps."""
    topic: str
    """What the device's topics begin with: subscribe to everything below at QoS 0, publish to `commands` at QoS 1."""
    expires_in_s: int
    """For how long these credentials open a connection."""
