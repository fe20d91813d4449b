from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.media.photos import sample_photos
from tests.media.photos.sample_photos import put
from tintype.media.errors import MediaUnsupported
from tintype.media.photos import VariantFormat, convert_in_sandbox


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["webp", "avif"])
async def test_a_size_of_ours_becomes_smaller_in_another_format(
    source: Path, out: Path, kind: VariantFormat
) -> None:
    picture = sample_photos.landscape(1080, 810)
    size_bytes = put(source, sample_photos.encode(picture, quality=82))

    made = await convert_in_sandbox(source, out / f"1080.{kind}", kind)

    with Image.open(out / made.name) as image:
        assert image.format == kind.upper()
        difference = np.abs(np.asarray(image.convert("RGB")).astype(float) - np.asarray(picture))
    assert difference.mean() < 4
    assert (made.width, made.height) == (1080, 810)
    assert made.size_bytes == (out / made.name).stat().st_size < size_bytes


async def test_only_our_own_format_is_converted(source: Path, out: Path) -> None:
    put(source, sample_photos.encode(sample_photos.corners(), "PNG"))

    with pytest.raises(MediaUnsupported):
        await convert_in_sandbox(source, out / "1080.webp", "webp")
