"""How well explore retrieves: Recall@20 and NDCG@20 of the towers and the graph filter together, in full ranking.

`--data FOLDER` has train.txt and test.txt (or .gz): lines of a person's number and the numbers of items. Ours is
trained and served by the product's own code: published to files, retrieved through the index by several processes.
Baselines, in the same job: popularity, item-kNN, implicit ALS, GF-CF in closed form, and each half of ours alone.
Settings of ours, of item-kNN and of ALS are chosen on a validation split of the training part; GF-CF has fixed ones
(rank 256, weight .3). The ratio is our Recall@20 over the best of all others.
Needs `tintype[train]`; a GPU is used if there is one.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from bench import explore_baselines as baselines
from bench.explore_dataset import TOP, Dataset, Metrics
from bench.explore_serving import open_pool, propose, publish_lists, publish_towers
from bench.harness import BenchResult, main
from tintype.explore import Candidates, Interactions, NeighbourLists
from tintype.explore.training import FilterSettings, GraphFilter, TowerSettings, TowerTraining, TrainingSet

NAME = "explore"
VERSION = "bench"
FILTER_WEIGHTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
TEMPERATURES = (0.07, 0.1, 0.15)
SHARPENINGS = (0.0, 0.7, 1.0)
OURS, TOWERS, FILTER = "ours", "towers alone", "filter alone"
GF_CF = FilterSettings(rank=256, sharpening=0)
SMALL_FILTER = FilterSettings(rank=32, neighbours=1_000)
SMALL_TOWERS = TowerSettings(dimension=32, batch=256, negatives=512, history=8)
Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Chosen:
    """Settings of ours, chosen on the validation split."""

    filter: FilterSettings
    towers: TowerSettings
    epochs: int
    filter_weight: float


def add_options(parser: argparse.ArgumentParser) -> None:
    """Say where the data is and how long to train at most."""
    parser.add_argument("--data", type=Path, required=True, help="folder with train.txt and test.txt, or .gz")
    parser.add_argument("--epochs", type=int, default=40, help="epochs of the towers at most")
    parser.add_argument(
        "--every", type=int, default=5, help="epochs between two looks at the validation split"
    )


def run(*, data: Path, epochs: int = 40, every: int = 5, quick: bool = False) -> BenchResult:
    """Choose settings on a split of the training part, train on all of it, measure on the test part."""
    dataset = Dataset.load(data, people=200 if quick else None)
    if quick:
        epochs, every = 2, 2
    held_out = dataset.hold_out(0.1, seed=7)
    closed_form = replace(SMALL_FILTER, sharpening=0) if quick else GF_CF
    others = _measure_baselines(dataset, _choose_baselines(held_out, quick=quick), closed_form)
    with open_pool() as pool:
        chosen = _choose(pool, held_out, epochs, every, quick=quick)
        measured = {**others, **_measure_ours(pool, dataset, chosen)}
    best = max((name for name in measured if name != OURS), key=lambda name: measured[name].recall)
    ratio = measured[OURS].recall / measured[best].recall
    return BenchResult(
        name=NAME,
        ratio=ratio,
        against=f"Recall@{TOP} of {best}",
        spread=(ratio, ratio),
        detail={name: str(metrics) for name, metrics in measured.items()} | {"chosen": str(chosen)},
    )


def _choose(pool: ProcessPoolExecutor, held_out: Dataset, epochs: int, every: int, *, quick: bool) -> Chosen:
    """Settings of ours with the best Recall on the validation split: the filter by itself first, then the rest."""
    asked = _some_people(held_out)
    filters = [SMALL_FILTER] if quick else [FilterSettings(sharpening=each) for each in SHARPENINGS]
    towers = [SMALL_TOWERS] if quick else [TowerSettings(temperature=each) for each in TEMPERATURES]
    lists = {settings: _make_lists(held_out.train, settings) for settings in filters}
    by_filter = {
        settings: _say(f"validation, {settings}", _measure_lists(held_out, each))
        for settings, each in lists.items()
    }
    graph_filter = _best(by_filter)
    tried: dict[Chosen, Metrics] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        publish_lists(root, lists[graph_filter])
        for settings in towers:
            training = TowerTraining(TrainingSet.of(held_out.train), settings)
            for epoch in range(1, epochs + 1):
                _run_epoch(training, epoch)
                if epoch % every == 0:
                    publish_towers(root, training.model(VERSION))
                    found = dict(propose(pool, root, held_out, asked))
                    _say(
                        f"validation, towers, temperature {settings.temperature}",
                        _measure(held_out, found, 0.0),
                    )
                    tried |= {
                        Chosen(graph_filter, settings, epoch, weight): _measure(held_out, found, weight)
                        for weight in FILTER_WEIGHTS
                    }
    chosen = _best(tried)
    _say(f"validation, {chosen}", tried[chosen])
    return chosen


def _measure_ours(pool: ProcessPoolExecutor, dataset: Dataset, chosen: Chosen) -> dict[str, Metrics]:
    """Train on the whole training part with the settings chosen, publish, and ask for everybody."""
    training = TowerTraining(TrainingSet.of(dataset.train), chosen.towers)
    for epoch in range(1, chosen.epochs + 1):
        _run_epoch(training, epoch)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        publish_lists(root, _make_lists(dataset.train, chosen.filter))
        publish_towers(root, training.model(VERSION))
        started = time.perf_counter()
        found = dict(propose(pool, root, dataset, dataset.asked))
        print(f"retrieved for {len(found)} people in {time.perf_counter() - started:.1f} s", flush=True)
    weights = {TOWERS: 0.0, FILTER: np.inf, OURS: chosen.filter_weight}
    return {name: _say(name, _measure(dataset, found, weight)) for name, weight in weights.items()}


def _measure(dataset: Dataset, found: Mapping[int, Candidates], weight: float) -> Metrics:
    """Metrics of one blend; with a weight of infinity of the filter alone."""
    row_of = {int(each): row for row, each in enumerate(dataset.train.item_ids)}

    def rank(candidates: Candidates) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        if np.isinf(weight):
            candidates, by = replace(candidates, tower=np.zeros_like(candidates.tower)), 1.0
        else:
            by = weight
        return np.array([row_of[int(each)] for each in candidates.rank(by, TOP)[0]], np.int64)

    return dataset.measure((person, rank(candidates)) for person, candidates in found.items())


def _choose_baselines(held_out: Dataset, *, quick: bool) -> tuple[int, tuple[float, float]]:
    """The number of neighbours of item-kNN, and confidence and regularization of ALS."""
    people, train = _some_people(held_out), held_out.train
    sizes = (100,) if quick else (50, 200, 800)
    by_size = {
        size: _say(
            f"validation, item-kNN {size}",
            baselines.measure(held_out, baselines.item_knn(train, size), people),
        )
        for size in sizes
    }
    weights = ((10.0, 1.0),) if quick else ((1.0, 1.0), (10.0, 1.0), (10.0, 10.0), (40.0, 10.0))
    by_weights = {
        (confidence, regularization): _say(
            f"validation, ALS {confidence} {regularization}",
            baselines.measure(
                held_out,
                baselines.als(train, factors=128, confidence=confidence, regularization=regularization),
                people,
            ),
        )
        for confidence, regularization in weights
    }
    return _best(by_size), _best(by_weights)


def _measure_baselines(
    dataset: Dataset, chosen: tuple[int, tuple[float, float]], closed_form: FilterSettings
) -> dict[str, Metrics]:
    neighbours, (confidence, regularization) = chosen
    train = dataset.train
    scorers = {
        "popularity": lambda: baselines.popularity(train),
        "item-kNN": lambda: baselines.item_knn(train, neighbours),
        "implicit ALS": lambda: baselines.als(
            train, factors=128, confidence=confidence, regularization=regularization
        ),
        "closed-form filter (GF-CF)": lambda: baselines.closed_form(train, closed_form),
    }
    return {name: _say(name, baselines.measure(dataset, make())) for name, make in scorers.items()}


def _measure_lists(dataset: Dataset, lists: NeighbourLists) -> Metrics:
    """The filter alone, by the lists as they are served."""
    train = dataset.train
    return baselines.measure(
        dataset,
        lambda people: np.stack([lists.score(train.item_ids[train.history(int(each))]) for each in people]),
        _some_people(dataset),
    )


def _make_lists(train: Interactions, settings: FilterSettings) -> NeighbourLists:
    return GraphFilter(train, settings).make_lists(VERSION, threads=os.cpu_count() or 1)


def _run_epoch(training: TowerTraining, epoch: int) -> None:
    started = time.perf_counter()
    report = training.run_epoch()
    print(f"epoch {epoch}: {report} {time.perf_counter() - started:.1f} s", flush=True)


def _some_people(dataset: Dataset) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """At most 5,000 people to choose settings by, the same each time."""
    asked = dataset.asked
    return np.sort(np.random.default_rng(3).permutation(asked)[:5_000])


def _best(tried: Mapping[Choice, Metrics]) -> Choice:
    return max(tried, key=lambda each: tried[each].recall + tried[each].ndcg)


def _say(name: str, metrics: Metrics) -> Metrics:
    print(f"{name}: {metrics}", flush=True)
    return metrics


if __name__ == "__main__":
    main(run, __doc__, add_options)
