import numpy as np
from numpy.typing import NDArray

from tintype.explore import PICTURE_LENGTH, describe_picture


def plain(red: int, green: int, blue: int) -> NDArray[np.uint8]:
    return np.full((32, 48, 3), (red, green, blue), np.uint8)


def test_a_descriptor_is_finite_and_has_one_length_for_every_picture() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (33, 9, 3)).astype(np.uint8)
    for picture in (plain(0, 0, 0), plain(255, 255, 255), noise):
        found = describe_picture(picture)
        assert found.shape == (PICTURE_LENGTH,)
        assert np.isfinite(found).all()


def test_pictures_alike_in_colour_are_closer_than_others() -> None:
    red, dark_red, blue = (
        describe_picture(each) for each in (plain(220, 20, 20), plain(180, 25, 20), plain(20, 20, 220))
    )

    assert np.linalg.norm(red - dark_red) < np.linalg.norm(red - blue)


def test_stripes_are_told_from_what_is_plain_and_by_their_direction() -> None:
    upright = plain(0, 0, 0)
    upright[:, ::8] = 255
    level = plain(0, 0, 0)
    level[::8] = 255
    edges = [describe_picture(each)[-16:-8] for each in (upright, level, plain(9, 9, 9))]

    assert edges[0].sum() > 0
    assert edges[0].argmax() != edges[1].argmax()
    assert not edges[2].any()
