"""How many processes suit a machine: by its cores, as far as its memory reaches."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tintype.base.settings import load_settings
from tintype.stack import machine as machine_module
from tintype.stack import stack_plan
from tintype.stack.machine import (
    Machine,
    ProcessCounts,
    choose_counts,
    count_cores,
    needed_bytes,
    people_at_once,
    requests_per_s,
    this_machine,
)

_GIB = 1024**3


@pytest.mark.parametrize(
    ("cores", "memory_gib", "web", "workers"),
    [
        (1, 1, 1, 1),
        (2, 2, 1, 1),
        (2, 64, 1, 1),
        (4, 2, 2, 1),
        (4, 8, 2, 1),
        (8, 16, 4, 2),
        (16, 32, 8, 4),
        (64, 256, 32, 16),
        (128, 512, 32, 16),
    ],
)
def test_processes_by_cores(cores: int, memory_gib: int, web: int, workers: int) -> None:
    assert choose_counts(Machine(cores, memory_gib * _GIB)) == ProcessCounts(web, workers)


@given(st.integers(1, 512), st.integers(0, 1024 * _GIB))
def test_there_is_one_of_each_and_the_rest_fits_into_memory(cores: int, memory_bytes: int) -> None:
    counts = choose_counts(Machine(cores, memory_bytes))

    assert counts.web >= counts.workers >= 1
    assert counts == ProcessCounts(1, 1) or needed_bytes(counts) <= memory_bytes


def test_replicas_and_their_backends_take_memory_that_processes_do_not_get() -> None:
    machine = Machine(16, 4 * _GIB)
    counts, fewer = choose_counts(machine), choose_counts(machine, replicas=4)

    assert needed_bytes(counts, replicas=1) > needed_bytes(counts)
    assert needed_bytes(ProcessCounts(2, 1), replicas=2) - needed_bytes(ProcessCounts(1, 1), replicas=2) > (
        needed_bytes(ProcessCounts(2, 1)) - needed_bytes(ProcessCounts(1, 1))
    )
    assert fewer.web + fewer.workers < counts.web + counts.workers


@given(st.integers(1, 512), st.integers(0, 256 * _GIB), st.integers(0, 64), st.integers(0, 64 * _GIB))
def test_a_larger_machine_never_gets_fewer_processes(
    cores: int, memory_bytes: int, more_cores: int, more_bytes: int
) -> None:
    small = choose_counts(Machine(cores, memory_bytes))
    large = choose_counts(Machine(cores + more_cores, memory_bytes + more_bytes))

    assert large.web + large.workers >= small.web + small.workers


def test_a_larger_machine_carries_more() -> None:
    small, large = Machine(2, 2 * _GIB), Machine(8, 16 * _GIB)
    assert requests_per_s(large) > requests_per_s(small) > 0
    assert people_at_once(large) > people_at_once(small) > requests_per_s(small)


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 4), ("150000 100000", 2), ("50000 100000", 1), ("800000 100000", 4)],
)
def test_a_container_has_the_cores_of_its_quota(
    quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cpu.max").write_text(f"{quota}\n")
    monkeypatch.setattr(machine_module, "_QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", _cores(4))

    assert count_cores() == expected


@pytest.mark.parametrize(("quota", "expected"), [("-1", 4), ("300000", 3)])
def test_the_older_kind_of_container_too(
    quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (tmp_path / "quota", tmp_path / "period")
    files[0].write_text(f"{quota}\n")
    files[1].write_text("100000\n")
    monkeypatch.setattr(machine_module, "_QUOTA", tmp_path / "none")
    monkeypatch.setattr(machine_module, "_LEGACY_QUOTA", tuple(map(str, files)))
    monkeypatch.setattr(os, "sched_getaffinity", _cores(4))

    assert count_cores() == expected


def test_the_operator_is_asked_before_the_machine(tmp_path: Path) -> None:
    def plan(text: str) -> ProcessCounts:
        (tmp_path / "tintype.toml").write_text(text)
        made = stack_plan(load_settings(environ={}, file=tmp_path / "tintype.toml"))
        return ProcessCounts(made.web_count, made.worker_count)

    suitable = choose_counts(this_machine())
    assert plan("") == suitable
    assert plan("web_workers = 7\nworker_count = 5") == ProcessCounts(7, 5)
    assert plan("web_workers = 7") == ProcessCounts(7, suitable.workers)


def _cores(count: int) -> Callable[[int], set[int]]:
    return lambda _: set(range(count))
