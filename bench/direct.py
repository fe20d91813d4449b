"""How long a direct message takes from one device to the other, and what it costs, against the bare broker.

One installation with live connections: two PostgreSQL servers, Valkey, NATS, a web process and a worker. Devices
connect over MQTT as any client does (credentials over HTTP, callout, subscription) and write to each other in threads
of two, at 100, 500 and 1,500 messages a second with 100 and with 2,000 devices connected. The time of a message runs
from when it was due until the other's device has it: by then it is stored, and in the update logs of both. In the same
round as many bare publications go from device to device through the same broker, at QoS 0 and with no promise at all.
The ratio is the bare broker's p50 over ours at 500 messages a second with 100 devices. CPU time is that of each
process per message, all that follows from it included, less what it takes when idle. `--clients`, `--rates`,
`--seconds` and `--rounds` change the load.
"""

import argparse
import asyncio
import time
from dataclasses import dataclass
from typing import Any

from bench.direct_load import Device, Timings, connect_all, run_bare_phase, run_phase
from bench.direct_site import DirectSite, direct_site
from bench.harness import BenchResult, main, percentile, ratio_of
from bench.mqtt_load import MqttConnection
from bench.tables import format_table

NAME = "direct"
CLIENTS, FEW_CLIENTS = (100, 2_000), (20,)
RATES, FEW_RATES = (100.0, 500.0, 1_500.0), (50.0, 200.0)
SECONDS, FEW_SECONDS = 10.0, 2.0
ROUNDS = 3
BARE = 100
WARM_UP = (50.0, 20.0)
"""Rate and seconds: every connection of a pool prepares its statements for every shard once."""
IDLE_S = 3.0


@dataclass(frozen=True)
class Phase:
    """What was measured at one rate with so many devices."""

    clients: int
    rate: float
    round: int
    messages: int
    lost: int
    carried: float
    """Messages a second, from the first that was due to the last that arrived."""
    p50_ms: float
    p99_ms: float
    answered_ms: float
    bare_p50_ms: float
    bare_p99_ms: float
    cpu_ms: dict[str, float]
    """Of each process, per message."""

    @property
    def ratio(self) -> float:
        """The bare broker's p50 over ours."""
        return self.bare_p50_ms / self.p50_ms


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of this bench."""
    parser.add_argument("--clients", type=int, nargs="+", help=f"connected devices (default: {CLIENTS})")
    parser.add_argument("--rates", type=float, nargs="+", help=f"messages a second (default: {RATES})")
    parser.add_argument("--seconds", type=float, help=f"length of a phase (default: {SECONDS:g})")
    parser.add_argument("--rounds", type=int, help=f"how often (default: {ROUNDS})")


def run(
    *,
    quick: bool = False,
    clients: list[int] | None = None,
    rates: list[float] | None = None,
    seconds: float | None = None,
    rounds: int | None = None,
) -> BenchResult:
    """Measure every rate with every number of devices, round after round."""
    chosen = Load(
        tuple(clients or (FEW_CLIENTS if quick else CLIENTS)),
        tuple(rates or (FEW_RATES if quick else RATES)),
        seconds or (FEW_SECONDS if quick else SECONDS),
        rounds or (1 if quick else ROUNDS),
    )
    phases, connected = asyncio.run(_measure(chosen))
    print(format_table(HEAD, [_row(each) for each in phases]))
    return _result(phases, connected)


@dataclass(frozen=True)
class Load:
    """What is measured."""

    clients: tuple[int, ...]
    rates: tuple[float, ...]
    seconds: float
    rounds: int


@dataclass(frozen=True)
class Connected:
    """What connecting so many devices took."""

    clients: int
    connects_per_s: float
    kb_each: dict[str, float]
    """Memory of each process, per device."""


async def _measure(load: Load) -> tuple[list[Phase], list[Connected]]:
    phases: list[Phase] = []
    connected: list[Connected] = []
    async with direct_site(max(load.clients)) as site:
        print(f"{len(site.members)} people are there", flush=True)
        bare = Bare(site)
        await bare.connect()
        devices: list[Device] = []
        for count in sorted(load.clients):
            connected.append(await _connect(site, devices, count))
            print(connected[-1], flush=True)
            await run_phase(devices, f"warm{count}", *WARM_UP)
            for number in range(load.rounds):
                for rate in load.rates:
                    phases.append(
                        await _measure_phase(site, devices, bare, rate, seconds=load.seconds, number=number)
                    )
                    print("  ".join(_row(phases[-1])), flush=True)
    return phases, connected


async def _connect(site: DirectSite, devices: list[Device], count: int) -> Connected:
    """Connect more devices, until there are so many."""
    before = site.memory_bytes()
    new = [Device(each) for each in site.members[len(devices) : count]]
    rate = await connect_all(site, new)
    devices += new
    after = site.memory_bytes()
    kb = {name: (after[name] - before[name]) / 1_000 / len(new) for name in ("nats", "worker")}
    return Connected(len(new), rate, kb)


class Bare:
    """Devices of the broker alone."""

    def __init__(self, site: DirectSite) -> None:
        self._site, self._connections = site, list[MqttConnection]()
        self._timings = Timings()

    async def connect(self) -> None:
        """Connect them."""
        for number in range(BARE):
            self._connections.append(await self._site.connect_bare(str(number), self._on_message))

    async def measure(self, rate: float, seconds: float) -> list[float]:
        """Seconds from when a publication was due until it has arrived, at a rate."""
        self._timings = Timings()
        await run_bare_phase(self._connections, self._timings, rate, seconds)
        return list(self._timings.received_s.values())

    def _on_message(self, _topic: str, content: bytes) -> None:
        self._timings.received(content.decode())


async def _measure_phase(
    site: DirectSite, devices: list[Device], bare: Bare, rate: float, *, seconds: float, number: int
) -> Phase:
    bare_s = await bare.measure(rate, seconds / 2)
    idle = await _idle_cpu(site)
    before, began = site.site.cpu_s(), time.perf_counter()
    timings = await run_phase(devices, f"{len(devices)}-{rate:g}-{number}", rate, seconds)
    await site.site.wait_until_done()
    after, took_s = site.site.cpu_s(), time.perf_counter() - began
    cpu_s = {name: after[name] - before[name] - idle[name] * took_s for name in before}
    bare_s += await bare.measure(rate, seconds / 2)
    return _phase(len(devices), rate, number, timings, bare_s=bare_s, cpu_s=cpu_s)


async def _idle_cpu(site: DirectSite) -> dict[str, float]:
    """What each process takes of a core while nobody sends anything."""
    before, began = site.site.cpu_s(), time.perf_counter()
    await asyncio.sleep(IDLE_S)
    after, took_s = site.site.cpu_s(), time.perf_counter() - began
    return {name: (after[name] - before[name]) / took_s for name in before}


def _phase(
    clients: int, rate: float, number: int, timings: Timings, *, bare_s: list[float], cpu_s: dict[str, float]
) -> Phase:
    took_s = list(timings.received_s.values())
    first = min(timings.due_at.values())
    last = max(timings.due_at[each] + took for each, took in timings.received_s.items())
    return Phase(
        clients=clients,
        rate=rate,
        round=number,
        messages=len(timings.due_at),
        lost=len(timings.due_at) - len(took_s),
        carried=len(took_s) / (last - first),
        p50_ms=percentile(took_s, 0.50) * 1000,
        p99_ms=percentile(took_s, 0.99) * 1000,
        answered_ms=percentile(list(timings.answered_s.values()), 0.50) * 1000,
        bare_p50_ms=percentile(bare_s, 0.50) * 1000,
        bare_p99_ms=percentile(bare_s, 0.99) * 1000,
        cpu_ms={name: each * 1000 / len(timings.due_at) for name, each in cpu_s.items()},
    )


HEAD = (
    *(
        "devices",
        "due/s",
        "round",
        "carried/s",
        "p50 ms",
        "p99 ms",
        "answered p50 ms",
        "bare p50 ms",
        "bare p99 ms",
    ),
    *("ratio", "lost", "CPU-ms", "by process"),
)


def _row(phase: Phase) -> list[str]:
    return [
        str(phase.clients),
        f"{phase.rate:g}",
        str(phase.round),
        f"{phase.carried:.0f}",
        f"{phase.p50_ms:.1f}",
        f"{phase.p99_ms:.1f}",
        f"{phase.answered_ms:.1f}",
        f"{phase.bare_p50_ms:.1f}",
        f"{phase.bare_p99_ms:.1f}",
        f"{phase.ratio:.3f}",
        str(phase.lost),
        f"{sum(phase.cpu_ms.values()):.2f}",
        ", ".join(f"{name} {value:.2f}" for name, value in phase.cpu_ms.items()),
    ]


def _result(phases: list[Phase], connected: list[Connected]) -> BenchResult:
    fewest = min(each.clients for each in phases)
    rate = sorted({each.rate for each in phases})[len({each.rate for each in phases}) // 2]
    ratio = ratio_of([each.ratio for each in phases if (each.clients, each.rate) == (fewest, rate)])
    return BenchResult(
        name=NAME,
        ratio=ratio.median,
        against=f"bare broker's p50 over ours, {rate:g} messages a second, {fewest} devices",
        spread=(ratio.low, ratio.high),
        detail={
            "phases": [_detail(each) for each in phases],
            "connects a second": {each.clients: round(each.connects_per_s) for each in connected},
            "KB per device": {
                each.clients: {name: round(kb, 1) for name, kb in each.kb_each.items()} for each in connected
            },
        },
    )


def _detail(phase: Phase) -> dict[str, Any]:
    return dict(zip(HEAD, _row(phase), strict=True))


if __name__ == "__main__":
    main(run, __doc__, add_options)
