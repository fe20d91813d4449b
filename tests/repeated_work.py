"""Work that hundreds of tests would repeat and that is done once: costly hashes, and the sizes of the same photo."""

import hashlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from tintype.accounts import passwords
from tintype.media.uploads.pipeline import MediaPipeline, ProcessedPhoto

PROCESS_PHOTO = MediaPipeline.process_photo
"""The real pipeline, for tests that are about it."""
Files = dict[str | None, bytes]
"""Contents by name; that of the cleaned original has none."""
CHEAP_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@contextmanager
def hash_cheaply() -> Generator[None]:
    """Hash passwords with the lowest costs: the real ones take 50 ms and 64 MiB on purpose."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "PasswordHasher", lambda: CHEAP_HASHER)
        yield


@contextmanager
def process_each_photo_once() -> Generator[None]:
    """Copy the files that the pipeline made of the same photo with the same edit before."""
    known: dict[tuple[str, bytes, bool], tuple[ProcessedPhoto, Files]] = {}

    async def process_or_copy(
        self: MediaPipeline, source: Path, out: Path, edit: bytes, *, original: Path | None
    ) -> ProcessedPhoto:
        key = _digest(source), edit, original is not None
        if key in known:
            made, files = known[key]
            _write(files, out, original)
        else:
            made = await PROCESS_PHOTO(self, source, out, edit, original=original)
            known[key] = made, _read(out, original)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MediaPipeline, "process_photo", process_or_copy)
        yield


def _digest(source: Path) -> str:
    return hashlib.sha256(source.read_bytes()).hexdigest()


def _read(out: Path, original: Path | None) -> Files:
    files: Files = {each.name: each.read_bytes() for each in out.iterdir()}
    if original is not None and original.exists():
        files[None] = original.read_bytes()
    return files


def _write(files: Files, out: Path, original: Path | None) -> None:
    for name, content in files.items():
        target = original if name is None else out / name
        assert target is not None
        target.write_bytes(content)
