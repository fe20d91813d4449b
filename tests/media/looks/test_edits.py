"""Edits on pictures: what each part does, by numbers."""

from typing import Any

import msgspec
import numpy as np
import pytest
import pyvips
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tintype.media.looks import Crop, CropRefused, Edit, apply, list_looks
from tintype.media.looks.fold import fold
from tintype.media.looks.geometry import frame
from tintype.media.looks.lut_strips import read_lut

LOOK = "night-tram"
PLAIN = "north-window"
"""A look without vignette and grain."""


def picture(width: int = 96, height: int = 64, seed: int = 1) -> pyvips.Image:
    rows = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    return pyvips.Image.new_from_array(rows, interpretation="srgb")


def flat(*colour: int, width: int = 64, height: int = 64) -> pyvips.Image:
    rows = np.full((height, width, 3), colour, np.uint8)
    return pyvips.Image.new_from_array(rows, interpretation="srgb")


def pixels(image: pyvips.Image) -> NDArray[Any]:
    return np.asarray(image.numpy()).astype(np.int32)


def colour_of(image: pyvips.Image) -> list[int]:
    return pixels(image)[image.height // 2, image.width // 2].tolist()


def test_the_plain_edit_changes_nothing() -> None:
    source = picture()

    assert np.array_equal(pixels(apply(source, Edit())), pixels(source))
    assert np.array_equal(pixels(apply(source, Edit(look=LOOK, strength=0))), pixels(source))


@pytest.mark.parametrize("look", [look.id for look in list_looks()])
def test_every_look_keeps_the_image_format(look: str) -> None:
    made = apply(picture(), Edit(look=look))

    assert (made.width, made.height, made.bands, made.format) == (96, 64, 3, "uchar")
    assert made.interpretation == "srgb"


def test_an_image_is_mapped_through_the_looks_lut() -> None:
    table = read_lut(PLAIN).reshape(33, 33, 33, 3)

    made = colour_of(apply(flat(255, 0, 255), Edit(look=PLAIN)))

    assert made == pytest.approx(255 * table[32, 0, 32], abs=1)


def test_strength_leads_from_the_photo_to_the_look() -> None:
    source = flat(200, 90, 40)
    none, half, full = (
        np.array(colour_of(apply(source, Edit(look=PLAIN, strength=at)))) for at in (0, 50, 100)
    )

    assert np.abs(none + full - 2 * half).max() <= 2
    assert np.abs(full - none).max() > 5


def test_saturation_at_its_lowest_is_grey() -> None:
    made = pixels(apply(picture(), Edit(saturation=-100)))

    assert np.abs(made - made.mean(axis=-1, keepdims=True)).max() <= 1


def test_warmth_raises_red_lowers_blue_and_keeps_luma() -> None:
    red, green, blue = colour_of(apply(flat(128, 128, 128), Edit(warmth=100)))

    assert red > 128 > blue
    assert 0.2126 * red + 0.7152 * green + 0.0722 * blue == pytest.approx(128, abs=1)


def test_brightness_and_contrast_leave_black_and_white_alone() -> None:
    for edit in (Edit(brightness=100), Edit(brightness=-100), Edit(contrast=100)):
        assert colour_of(apply(flat(0, 0, 0), edit)) == [0, 0, 0]
        assert colour_of(apply(flat(255, 255, 255), edit)) == [255, 255, 255]


@pytest.mark.parametrize("name", ["brightness", "contrast"])
@pytest.mark.parametrize("amount", [-100, 100])
def test_tones_keep_their_order(name: str, amount: int) -> None:
    edit = msgspec.convert({name: amount}, Edit)
    greys = fold(edit).reshape(33, 33, 33, 3)[range(33), range(33), range(33), 0]

    assert (np.diff(greys) >= 0).all()


def test_a_vignette_darkens_the_corners_and_not_the_middle() -> None:
    made = pixels(apply(flat(200, 200, 200), Edit(vignette=50)))[..., 0]

    assert made[32, 32] == 200
    assert made[0, 0] < 140
    assert made[0, 0] == made[-1, -1] == made[0, -1]


def test_grain_is_the_same_each_time_and_does_not_lighten() -> None:
    source = flat(120, 120, 120, width=256, height=256)
    first, again = (pixels(apply(source, Edit(grain=40))) for _ in range(2))

    assert np.array_equal(first, again)
    assert first.mean() == pytest.approx(120, abs=0.5)
    assert 2 < first.std() < 30
    assert (first[..., 0] == first[..., 1]).all()


def test_grain_does_not_repeat_from_band_to_band() -> None:
    rows = pixels(apply(flat(120, 120, 120, width=512, height=64), Edit(grain=50)))[..., 0]

    alike = np.corrcoef(rows)[~np.eye(64, dtype=bool)].reshape(64, 63)

    assert np.abs(np.corrcoef(rows[0], rows[16])[0, 1]) < 0.25
    assert alike.max() < 0.65


def test_a_crop_takes_exactly_those_pixels() -> None:
    source = picture(100, 50)

    made = apply(source, Edit(crop=Crop(x=0.1, y=0.2, width=0.5, height=0.6)))

    assert np.array_equal(pixels(made), pixels(source)[10:40, 10:60])


def test_mirroring_comes_after_the_turns() -> None:
    source = picture(30, 20)

    made = pixels(apply(source, Edit(turns=1, mirrored=True)))

    assert np.array_equal(made, np.rot90(pixels(source), -1)[:, ::-1])


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_quarter_turns_are_exact_and_clockwise(turns: int) -> None:
    source = picture(30, 20)

    assert np.array_equal(pixels(apply(source, Edit(turns=turns))), np.rot90(pixels(source), -turns))


def test_turning_comes_before_cropping() -> None:
    source = picture(40, 20)

    made = apply(source, Edit(turns=1, crop=Crop(height=0.5)))

    assert np.array_equal(pixels(made), np.rot90(pixels(source), -1)[:20])


def test_straightening_turns_clockwise_about_the_middle() -> None:
    rows = np.zeros((200, 200, 3), np.uint8)
    rows[100:] = 255
    source = pyvips.Image.new_from_array(rows, interpretation="srgb")

    made = pixels(apply(source, Edit(straighten=10)))[..., 0]

    middle = made.shape[0] // 2
    assert made[middle - 8, 4] == 255
    assert made[middle + 8, -4] == 0
    left, right = ((made[:, at] > 127).argmax() for at in (4, -4))
    assert right - left == pytest.approx((made.shape[1] - 8) * np.tan(np.radians(10)), abs=2)


@given(
    width=st.integers(150, 1080),
    height=st.integers(150, 1350),
    degrees=st.floats(-25, 25),
    crop=st.tuples(st.floats(0, 0.95), st.floats(0, 0.95), st.floats(0.05, 1), st.floats(0.05, 1)),
)
@settings(max_examples=300, deadline=None)
@pytest.mark.slow
def test_a_frame_never_leaves_the_photo(
    width: int, height: int, degrees: float, crop: tuple[float, float, float, float]
) -> None:
    x, y, wide, high = crop
    edit = Edit(straighten=degrees, crop=Crop(x, y, min(wide, 1 - x), min(high, 1 - y)))

    kept = frame(width, height, edit)

    assert kept.width >= 1
    assert kept.height >= 1
    for right in (0, kept.width):
        for down in (0, kept.height):
            across = kept.a * right + kept.b * down + kept.left
            along = -kept.b * right + kept.a * down + kept.top
            assert -0.01 <= across <= width + 0.01
            assert -0.01 <= along <= height + 0.01


def test_straightening_leaves_no_corner_empty_and_keeps_the_shape() -> None:
    made = apply(flat(200, 100, 50, width=300, height=200), Edit(straighten=-25))

    assert (pixels(made) == [200, 100, 50]).all()
    assert made.width / made.height == pytest.approx(1.5, abs=0.02)


def test_a_crop_that_is_too_narrow_is_refused() -> None:
    with pytest.raises(CropRefused) as refusal:
        apply(picture(400, 400), Edit(crop=Crop(width=1, height=0.05)))

    assert refusal.value.code == "crop_refused"


@pytest.mark.parametrize(
    "text",
    [
        '{"look": "no-such-look"}',
        '{"look": "../strips/ferrous"}',
        '{"look": "a\\u0000"}',
        '{"look": "\\ud800"}',
        '{"strength": 101}',
        '{"brightness": -101}',
        '{"grain": 99999999999999999999999}',
        '{"vignette": 1.5}',
        '{"straighten": 26}',
        '{"straighten": 1e400}',
        '{"turns": 4}',
        '{"crop": {"x": 0.6, "width": 0.5}}',
        '{"crop": {"height": 0}}',
        '{"crop": {"x": -0.1}}',
        '{"unknown": 1}',
    ],
)
def test_an_edit_out_of_range_is_not_read(text: str) -> None:
    with pytest.raises(
        msgspec.ValidationError if "1e400" not in text and "ud800" not in text else msgspec.DecodeError
    ):
        msgspec.json.decode(text, type=Edit)


def test_nan_and_infinity_are_not_read() -> None:
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="number"):
            Edit(straighten=bad)
        with pytest.raises(ValueError, match="numbers"):
            Crop(x=bad)


def test_an_edit_survives_an_encode_and_decode() -> None:
    edit = Edit(look=LOOK, strength=40, crop=Crop(0.1, 0.1, 0.5, 0.5), straighten=-3.5, grain=7)

    assert msgspec.json.decode(msgspec.json.encode(edit), type=Edit) == edit
    assert msgspec.json.encode(Edit()) == b"{}"
