"""The HTTP half of the protocol: credentials for a connection, and the log that fills its gaps."""

from dataclasses import dataclass
from typing import Any

import httpx

from tintype.client.models import LiveUpdate, ResetNeeded, SignedOut

PAGE = 500
TIMEOUT_S = 20.0
REFUSED = frozenset({401, 403})


@dataclass(frozen=True)
class Credentials:
    """What the MQTT connection is opened with."""

    username: str
    password: str
    client_id_prefix: str
    topic: str


class HttpCalls:
    """Calls of one account to one site."""

    def __init__(self, address: str, token: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._client = httpx.AsyncClient(
            base_url=address.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_S,
            transport=transport,
        )

    async def credentials(self) -> Credentials:
        """Credentials for one connection."""
        found = await self._call("POST", "/api/v1/realtime/token")
        return Credentials(**{name: str(found[name]) for name in Credentials.__dataclass_fields__})

    async def position(self) -> int:
        """The number of the latest update."""
        return int((await self._call("GET", "/api/v1/sync"))["seq"])

    async def read(self, since: int) -> tuple[list[LiveUpdate], bool]:
        """Updates after a number, and whether there are more after them; raises `ResetNeeded`."""
        found = await self._call("GET", "/api/v1/sync", since=since, limit=PAGE)
        if found["is_reset"]:
            raise ResetNeeded(int(found["seq"]))
        updates = [LiveUpdate(each["seq"], each["kind"], each["payload"]) for each in found["updates"]]
        return updates, bool(found["has_more"])

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _call(self, method: str, path: str, **params: Any) -> dict[str, Any]:
        answer = await self._client.request(method, path, params=params)
        if answer.status_code in REFUSED:
            raise SignedOut(answer.text[:200])
        answer.raise_for_status()
        return answer.json()
