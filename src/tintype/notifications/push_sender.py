"""One push: encrypted for one browser (RFC 8291), signed for its push service (RFC 8292), and sent (RFC 8030)."""

import json
import ssl
import time
from typing import Any, cast

import http_ece  # pyright: ignore[reportMissingTypeStubs] - ships without types; one call, typed here
import httpx
from cryptography.hazmat.primitives.asymmetric import ec

from tintype.base.errors import Unavailable
from tintype.notifications.errors import SubscriptionInvalid
from tintype.notifications.models import Subscription
from tintype.notifications.push_endpoints import resolve
from tintype.notifications.vapid import VapidKey

TTL_S = 24 * 3600
TIMEOUT = httpx.Timeout(10.0, connect=5.0)
LARGEST_PAYLOAD_BYTES = 3_000
POINT_BYTES, SECRET_BYTES = 65, 16
GONE = frozenset({404, 410})


class PushFailed(Unavailable):
    """The push service did not accept the message; it will be retried."""

    code = "push_failed"


class PushSender:
    """Sends pushes over pooled connections."""

    def __init__(
        self, key: VapidKey, *, may_be_internal: bool = False, trust: ssl.SSLContext | bool = True
    ) -> None:
        self._key, self.may_be_internal, self._trust = key, may_be_internal, trust
        self._client: httpx.AsyncClient | None = None

    async def send(self, to: Subscription, payload: dict[str, Any], *, topic: str, urgency: str) -> bool:
        """Send a message to the browser's push service; False when the subscription has ended."""
        try:
            there = await resolve(to.endpoint, may_be_internal=self.may_be_internal)
        except SubscriptionInvalid:
            return False
        except OSError as error:
            raise PushFailed(host=to.endpoint[:100]) from error
        headers = {
            "Host": there.host,
            "Authorization": self._key.authorization(there.origin, now_s=int(time.time())),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(TTL_S),
            "Topic": topic,
            "Urgency": urgency,
        }
        return await self._post(there.url, there.host, encrypt(to, payload), headers)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _post(self, url: str, host: str, body: bytes, headers: dict[str, str]) -> bool:
        if self._client is None:
            # No redirects and no proxy from the environment: only the checked address is contacted.
            self._client = httpx.AsyncClient(
                timeout=TIMEOUT, follow_redirects=False, trust_env=False, verify=self._trust
            )
        name = httpx.URL(f"https://{host}").host
        try:
            async with self._client.stream(
                "POST", url, content=body, headers=headers, extensions={"sni_hostname": name}
            ) as answer:
                # The body is never read: it is of no use and could be endless.
                status = answer.status_code
        except httpx.HTTPError as error:
            raise PushFailed(host=host, error=type(error).__name__) from error
        if status in GONE:
            return False
        if not 200 <= status < 300:  # noqa: PLR2004 - the class of success
            raise PushFailed(f"The push service answered {status}.", host=host, status=status)
        return True


def encrypt(to: Subscription, payload: dict[str, Any]) -> bytes:
    """Encrypt the payload for one browser, with a fresh key for each message."""
    content = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()
    if len(content) > LARGEST_PAYLOAD_BYTES:
        raise ValueError(f"the payload of a push has more than {LARGEST_PAYLOAD_BYTES} bytes")
    return cast(
        "bytes",
        http_ece.encrypt(
            content,
            private_key=ec.generate_private_key(ec.SECP256R1()),
            dh=to.public_key,
            auth_secret=to.auth_secret,
            version="aes128gcm",
        ),
    )


def check_keys(public_key: bytes, auth_secret: bytes) -> None:
    """Refuse subscription keys that are not a P-256 point and a 16-byte secret."""
    if len(public_key) != POINT_BYTES or len(auth_secret) != SECRET_BYTES:
        raise SubscriptionInvalid
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public_key)
    except ValueError as error:
        raise SubscriptionInvalid from error
