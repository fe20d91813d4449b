"""The index: exact and inverted search, added and erased items, stamps, and readers beside writers."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tintype.explore import (
    ModelVersionMismatch,
    NothingPublished,
    PersonVector,
    VectorIndex,
    VectorIndexWriter,
    VectorsInvalid,
)

WIDTH = 8


def vectors_of(count: int, seed: int = 1) -> NDArray[np.float32]:
    found = np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


PERSON = PersonVector("1", vectors_of(1, seed=9)[0])


@pytest.fixture
def writer(tmp_path: Path) -> VectorIndexWriter:
    made = VectorIndexWriter(tmp_path)
    made.publish("1", np.arange(100) * 10, vectors_of(100))
    return made


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["add", "erase", "rebuild"]), st.integers(0, 30)), max_size=12),
    st.integers(1, 40),
)
def test_search_equals_brute_force_whatever_was_added_and_erased(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]], count: int
) -> None:
    root = tmp_path_factory.mktemp("index")
    writer, index = VectorIndexWriter(root), VectorIndex(root)
    writer.publish("1", np.arange(10), vectors_of(10))
    expected, erased = dict(enumerate(vectors_of(10))), set[int]()
    for number, (step, item) in enumerate(steps):
        vector = vectors_of(1, seed=100 + number)
        if step == "add":
            writer.add("1", [item], vector)
            expected |= {} if item in erased else {item: vector[0]}
        elif step == "erase":
            writer.erase([item])
            erased |= {item} & expected.keys()
            expected.pop(item, None)
        else:
            writer.rebuild()
            erased.clear()

        ids, scores = index.search(PERSON, count)

        ranked = sorted(expected, key=lambda each: -float(expected[each] @ PERSON.values))[:count]
        assert ids.tolist() == ranked
        assert np.allclose(scores, [expected[each] @ PERSON.values for each in ranked], atol=1e-6)


def test_an_inverted_file_finds_nearly_all_and_what_was_added_since(tmp_path: Path) -> None:
    writer, index = VectorIndexWriter(tmp_path, exact_limit=1_000), VectorIndex(tmp_path)
    vectors = vectors_of(3_000)
    writer.publish("1", np.arange(3_000), vectors)
    expected = np.argsort(-(vectors @ PERSON.values))[:50]

    found, _ = index.search(PERSON, 50)
    assert (tmp_path / index_name(tmp_path) / "inverted").exists()
    assert len(np.intersect1d(found, expected)) >= 45

    writer.add("1", [5_000], PERSON.values[None])
    writer.erase([int(found[0])])

    after, _ = index.search(PERSON, 50)
    assert after[0] == 5_000
    assert found[0] not in after
    assert found[0] not in VectorIndex(tmp_path).search(PERSON, 50)[0]


def index_name(root: Path) -> str:
    return (root / "CURRENT").read_text()


def test_a_vector_of_another_version_is_refused(writer: VectorIndexWriter, tmp_path: Path) -> None:
    index = VectorIndex(tmp_path)
    with pytest.raises(ModelVersionMismatch):
        index.search(PersonVector("2", PERSON.values), 5)
    with pytest.raises(ModelVersionMismatch):
        writer.add("2", [7], vectors_of(1))

    writer.publish("2", [7], vectors_of(1))

    with pytest.raises(ModelVersionMismatch):
        index.search(PERSON, 5)
    assert index.search(PersonVector("2", PERSON.values), 5)[0].tolist() == [7]


@pytest.mark.parametrize(
    "vectors", [np.full((1, WIDTH), np.nan, np.float32), np.zeros((1, WIDTH + 1), np.float32)]
)
def test_vectors_that_do_not_fit_are_refused_and_nothing_changes(
    writer: VectorIndexWriter, tmp_path: Path, vectors: NDArray[np.float32]
) -> None:
    with pytest.raises(VectorsInvalid):
        writer.add("1", [7], vectors)

    assert len(VectorIndex(tmp_path).search(PERSON, 1_000)[0]) == 100


def test_an_empty_directory_says_that_nothing_is_published(tmp_path: Path) -> None:
    with pytest.raises(NothingPublished):
        VectorIndex(tmp_path).search(PERSON, 1)


def test_erasing_leaves_no_vector_and_a_late_publication_does_not_bring_it_back(
    writer: VectorIndexWriter, tmp_path: Path
) -> None:
    reader = VectorIndex(tmp_path)
    best = int(reader.search(PERSON, 1)[0][0])

    writer.erase([best])

    stored = np.fromfile(tmp_path / index_name(tmp_path) / "vectors", np.float32).reshape(-1, WIDTH)
    assert not stored[best // 10].any()
    assert best not in reader.search(PERSON, 100)[0]
    writer.add("1", [best], PERSON.values[None])
    assert best not in reader.search(PERSON, 100)[0]
    writer.publish("1", np.arange(100) * 10, vectors_of(100))
    assert best not in reader.search(PERSON, 100)[0]


def test_half_an_appended_row_is_not_seen_and_is_overwritten(
    writer: VectorIndexWriter, tmp_path: Path
) -> None:
    current = tmp_path / index_name(tmp_path)
    with (current / "vectors").open("ab") as file:
        file.write(b"\x01" * (WIDTH * 4 + 5))  # a writer was killed before it wrote the id
    with (current / "ids").open("ab") as file:
        file.write(b"\x01" * 3)

    assert len(VectorIndex(tmp_path).search(PERSON, 1_000)[0]) == 100
    writer.add("1", [5_001], PERSON.values[None])
    ids, scores = VectorIndex(tmp_path).search(PERSON, 1)
    assert ids.tolist() == [5_001]
    assert np.allclose(scores, 1, atol=1e-5)


def _publish_often(root: Path, times: int) -> None:
    writer = VectorIndexWriter(root)
    for number in range(times):
        writer.publish("1", np.arange(100) * 10, vectors_of(100, seed=number))


def test_readers_are_answered_while_another_process_replaces_the_index(
    writer: VectorIndexWriter, tmp_path: Path
) -> None:
    index = VectorIndex(tmp_path)
    publisher = multiprocessing.get_context("spawn").Process(target=_publish_often, args=(tmp_path, 100))
    publisher.start()
    names: set[str] = set()
    while publisher.is_alive():
        ids, scores = index.search(PERSON, 100)
        assert sorted(ids.tolist()) == list(range(0, 1_000, 10))
        assert np.isfinite(scores).all()
        names.add(index_name(tmp_path))
    publisher.join()

    assert publisher.exitcode == 0
    assert len(names) > 1
    assert len(list(tmp_path.glob("generation-*"))) == 1


def test_what_is_mapped_stays_readable_after_its_files_are_gone(
    writer: VectorIndexWriter, tmp_path: Path
) -> None:
    index = VectorIndex(tmp_path)
    index.search(PERSON, 1)
    view = index._view
    assert view is not None
    before = view.vectors.copy()

    writer.publish("1", [3], vectors_of(1))

    assert not view.generation.path.exists()
    assert np.array_equal(view.vectors, before)
