"""Whether the engines answer, and whether this process can serve without those that do not."""

import msgspec


class EngineHealth(msgspec.Struct, frozen=True):
    """Whether an engine answers, and how fast."""

    is_ready: bool
    latency_ms: float
    error: str | None = None


class Readiness(msgspec.Struct, frozen=True):
    """Ready when this process can serve requests; degraded when it does so without some engine."""

    is_ready: bool
    is_degraded: bool
    engines: dict[str, EngineHealth]
