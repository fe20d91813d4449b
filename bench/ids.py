"""How fast unique ids are generated, compared with the published function, bigserial and uuidv7.

Draws: ids made within one statement, all clients on one shard. Inserts: rows stored one by one, on one shard
and spread over sixteen. The server syncs nothing to disk: with it, the disk would be measured and not the ids.
pgbench drives it with prepared statements, so that the client is not measured either.
"""

from bench.harness import BenchResult, Measure, Ratio, Rounds, main, run_interleaved
from bench.ids_server import CONTENDERS, IdServer

NAME = "ids"
OURS = "ours"
WORKLOADS = ("draws", "inserts on one shard", "inserts spread over shards")


def run(*, quick: bool = False) -> BenchResult:
    """Measure every contender in every workload; the headline is draws of one client over the published function."""
    clients, rounds = ((1, 8), 2) if quick else ((1, 2, 8, 32), 5)
    table: dict[str, dict[str, str | float]] = {}
    headline = Ratio(0, 0, 0)
    with IdServer() as server:
        for workload in WORKLOADS:
            for count in clients:
                measured = run_interleaved(contenders(server, workload, count), rounds)
                row = table[f"{workload}, {count} clients"] = describe(measured)
                print(
                    f"{workload}, {count} clients:", ", ".join(f"{key} {value}" for key, value in row.items())
                )
                if workload == "draws" and count == 1:
                    headline = measured.ratio(OURS, "published")
        table["ids that were there already, of a million"] = count_repeats(server)
    return BenchResult(
        name=NAME,
        ratio=headline.median,
        against="the published function, draws with one client",
        spread=(headline.low, headline.high),
        detail=table,
    )


def contenders(server: IdServer, workload: str, clients: int) -> dict[str, Measure]:
    """Return the measurements of one round."""

    def measure(kind: str) -> Measure:
        if workload == "draws":
            return lambda: server.draw(kind, clients)
        return lambda: server.insert(kind, clients, spread="spread" in workload)

    return {kind: measure(kind) for kind in CONTENDERS}


def describe(measured: Rounds) -> dict[str, str | float]:
    """Return our rate, and our ratio to each peer with its spread."""
    peers = [kind for kind in CONTENDERS if kind != OURS]
    ratios: dict[str, str | float] = {f"over {peer}": str(measured.ratio(OURS, peer)) for peer in peers}
    return {"a second": round(measured.median(OURS))} | ratios


def count_repeats(server: IdServer) -> dict[str, str | float]:
    """Return how often ours and the published function repeat an id, with one, two and eight clients."""
    return {
        f"{kind}, {clients} clients": round(server.count_repeats(kind, clients), 1)
        for kind in (OURS, "published")
        for clients in (1, 2, 8)
    }


if __name__ == "__main__":
    main(run, __doc__)
