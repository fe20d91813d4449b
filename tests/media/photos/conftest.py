from collections.abc import Callable
from pathlib import Path

import pytest

from tintype.media.photos import MadePhoto
from tintype.media.photos.pipeline import make_photo

Make = Callable[[bytes], MadePhoto]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "source"


@pytest.fixture
def make(source: Path, out: Path) -> Make:
    """Makes a photo of some bytes; its files lie in `out`."""

    def make(content: bytes) -> MadePhoto:
        source.write_bytes(content)
        return make_photo(source, out)

    return make
