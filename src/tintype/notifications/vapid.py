"""The VAPID key that identifies this installation to push services (RFC 8292), made on first start, stored in home."""

import base64
from functools import cached_property

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from py_vapid import Vapid02

from tintype.base.errors import SettingsInvalid
from tintype.base.secret_key import read_or_create
from tintype.base.settings import Settings

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""The order of the curve P-256; a private key is a number below it."""
KEY_BYTES = 32
TOKEN_LIFE_S = 12 * 3600


class VapidKey:
    """Signs requests to push services; browsers subscribe with its public half."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @property
    def public_key(self) -> str:
        """The key a browser needs to subscribe: the uncompressed point, in URL-safe base64."""
        raw = self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def authorization(self, audience: str, *, now_s: int) -> str:
        """The Authorization header that proves to a push service who sends."""
        claims = {"aud": audience, "exp": now_s + TOKEN_LIFE_S, "sub": self._contact}
        return str(Vapid02(self._private).sign(claims)["Authorization"])

    @cached_property
    def _private(self) -> ec.EllipticCurvePrivateKey:
        text = self._settings.vapid_key or read_or_create(self._settings.home / "secrets" / "vapid").decode()
        try:
            raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except ValueError as error:
            raise SettingsInvalid("vapid_key is not URL-safe base64.") from error
        if len(raw) != KEY_BYTES:
            raise SettingsInvalid(f"vapid_key has {len(raw)} bytes instead of {KEY_BYTES}.")
        return ec.derive_private_key(int.from_bytes(raw) % (ORDER - 1) + 1, ec.SECP256R1())

    @property
    def _contact(self) -> str:
        """The contact that a push service can turn to when something is wrong with our pushes."""
        if self._settings.push_contact:
            return self._settings.push_contact
        url = self._settings.public_url
        return url.rstrip("/") if url.startswith("https://") else "mailto:operator@localhost"
