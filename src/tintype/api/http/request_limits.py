"""Rate limits of every route, per account and per network address, and the headers that tell of them.

Each request takes from the budgets of its route's class (`route_classes.py`): of its address before anything else is
done for it, of its account once that is known. Responses carry `RateLimit-Policy` and `RateLimit`
(draft-ietf-httpapi-ratelimit-headers) of the account, or of the address where nobody is signed in.
"""

import math
from typing import Any

from litestar import Request

from tintype.api.http.client_info import FORWARDING_HEADERS, client_of
from tintype.api.http.route_classes import class_of
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId
from tintype.base.rate_limits import (
    REQUEST_LIMITS,
    LimitOverrides,
    RateLimit,
    RequestClass,
    account_limit,
    address_limit,
)
from tintype.base.settings import Settings
from tintype.redis.rate_limits import refuse
from tintype.redis.request_budgets import RequestBudgets, Taken

TAKEN, ADDRESS_COUNTED, ACCOUNT_ID = (
    "tintype_rate_limit",
    "tintype_address_counted",
    "tintype_account_id",
)
MAX_NETWORKS = 20_000
MAX_CACHED_HEADER_BYTES = 200
"""Longer headers of proxies are parsed each time: whoever makes them up must not fill the memory."""
POLICY_HEADER, STATE_HEADER = b"ratelimit-policy", b"ratelimit"
_FORWARDING = frozenset(name.encode() for name in FORWARDING_HEADERS)

Scope = Any  # ASGI calls it a dict, the framework a TypedDict: both are handed in
Header = tuple[bytes, bytes]


class RequestLimits:
    """The limits of requests; one per process."""

    def __init__(self, budgets: RequestBudgets, settings: Settings) -> None:
        self._budgets, self._settings = budgets, settings
        effective = LimitOverrides(settings.rate_limits).effective
        self._per_account: dict[RequestClass, RateLimit] = {}
        self._per_address: dict[RequestClass, RateLimit] = {}
        for row in REQUEST_LIMITS:
            per_account = account_limit(row)
            if per_account and (limit := effective(per_account)).count:
                self._per_account[row.name] = limit
            if (limit := effective(address_limit(row))).count:
                self._per_address[row.name] = limit
        self._networks = BoundedMap[tuple[str, tuple[Header, ...]], str](MAX_NETWORKS)

    def check_address(self, scope: Scope) -> None:
        """Count a request for the network it came from, or raise `RateLimited`."""
        limit = self._per_address.get(_class_of(scope))
        if limit is not None:
            self._check(scope, limit, self._network(scope))

    def check_account(self, scope: Scope, account_id: AccountId) -> None:
        """Count a request for the account that is signed in, or raise `RateLimited`; its log line names the account."""
        scope["state"][ACCOUNT_ID] = account_id
        limit = self._per_account.get(_class_of(scope))
        if limit is not None:
            self._check(scope, limit, account_id)

    def admits_read(self, scope: Scope, account_id: AccountId) -> bool:
        """Count a read for its network and its account; False if either has used up its budget."""
        scope["state"][ACCOUNT_ID] = account_id
        for limits, key in ((self._per_address, self._network(scope)), (self._per_account, account_id)):
            limit = limits.get("reads")
            if limit is not None and key:
                taken = scope.setdefault("state", {})[TAKEN] = self._budgets.take(limit, key)
                if taken.wait_s:
                    return False
        return True

    def _check(self, scope: Scope, limit: RateLimit, key: str | int) -> None:
        if not key:
            return
        taken = scope.setdefault("state", {})[TAKEN] = self._budgets.take(limit, key)
        if taken.wait_s:
            raise refuse(limit, taken.wait_s)

    def _network(self, scope: Scope) -> str:
        """The client's network; empty for this machine itself. The same few clients send most requests."""
        client = scope.get("client")
        forwarded = tuple((name, value) for name, value in scope["headers"] if name in _FORWARDING)
        key = (str(client[0]) if client else "", forwarded)
        known = self._networks.get(key)
        if known is None:
            request = Request[Any, Any, Any](scope)
            known = client_of(request, self._settings).network
            if sum(len(value) for _, value in forwarded) <= MAX_CACHED_HEADER_BYTES:
                self._networks[key] = known
        return known


def _class_of(scope: Scope) -> Any:  # a RequestClass or None, as a key of either table
    return class_of(scope["method"], scope["path_template"])


def add_limit_headers(headers: list[Header], scope: Scope) -> None:
    """Tell of the budget that a request was taken from, unless the response names a limit that it has reached."""
    taken: Taken | None = scope.get("state", {}).get(TAKEN)
    if taken is None or any(name == STATE_HEADER for name, _ in headers):
        return
    limit = taken.limit
    seconds = math.ceil(taken.wait_s or taken.full_in_s)
    state = f'"{limit.name}";r={taken.remaining};t={seconds}'
    headers += [(POLICY_HEADER, limit.policy.encode()), (STATE_HEADER, state.encode())]
