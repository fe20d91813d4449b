"""Whether the engines answer."""

import msgspec


class EngineHealth(msgspec.Struct, frozen=True):
    """Whether an engine answers, and how fast."""

    is_ready: bool
    latency_ms: float
    error: str | None = None


class Readiness(msgspec.Struct, frozen=True):
    """Ready when every engine is."""

    is_ready: bool
    engines: dict[str, EngineHealth]
