import io
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tintype.demo import SHAPES, Person, Photo, load_people, render_photo
from tintype.demo.photos import draw_scene
from tintype.demo.scenes import SCENES

LEAST_DIFFERENCE = 4.0
"""Mean difference of two thumbnails, of 255: measured, the two most alike pictures are well above."""


def photos() -> list[Photo]:
    return [photo for person in load_people() for photo in person.photos]


def thumbnail(photo: Photo) -> NDArray[np.float32]:
    return np.asarray(draw_scene(photo.scene, photo.mood, (160, 160), seed="a").resize((24, 24)), np.float32)


def test_the_community_is_as_large_as_promised() -> None:
    people = load_people()

    assert len(people) == 12
    assert len(photos()) >= 40
    assert all(2 <= len(person.photos) <= 6 for person in people)
    assert len({person.username for person in people}) == len(people)


@pytest.mark.parametrize("person", load_people(), ids=lambda person: cast("Person", person).username)
def test_a_persons_captions_tell_the_posts_apart(person: Person) -> None:
    assert len({photo.caption for photo in person.photos}) == len(person.photos)


def test_every_photo_is_described_and_every_scene_is_used() -> None:
    assert [photo for photo in photos() if len(photo.alt_text) < 20] == []
    assert {photo.scene for photo in photos()} == set(SCENES)
    assert {photo.shape for photo in photos()} == set(SHAPES)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.slow
def test_a_picture_is_a_jpeg_of_the_promised_size(shape: str) -> None:
    content = render_photo("aurora", "green", shape, seed="a")

    with Image.open(io.BytesIO(content), formats=["JPEG"]) as image:
        image.load()
        assert image.size == SHAPES[shape]
        assert image.mode == "RGB"


def test_the_same_seed_gives_the_same_picture_and_another_seed_another() -> None:
    first, again, other = (render_photo("bokeh", "warm", "square", seed=seed) for seed in ("a", "a", "b"))

    assert first == again
    assert first != other


@pytest.mark.slow
def test_no_two_photos_look_alike_and_none_is_blank() -> None:
    seen = [thumbnail(photo) for photo in photos()]

    assert min(float(each.std()) for each in seen) > LEAST_DIFFERENCE
    pairs = [float(np.abs(one - other).mean()) for at, one in enumerate(seen) for other in seen[at + 1 :]]
    assert min(pairs) > LEAST_DIFFERENCE
