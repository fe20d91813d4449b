"""Who follows whom, who likes what, in which order photos are posted: random, but the same with every run.

Each decision depends on the seed and the names that it is about, and on nothing else. So a run that is repeated, or
that adds people, decides everything as before.
"""

import hashlib
from collections.abc import Sequence

from tintype.demo.models import Person, PlannedComment, PlannedPhoto
from tintype.demo.texts import load_texts

LIKE_CHANCE_FOLLOWER, LIKE_CHANCE_OTHERS = 0.65, 0.12
COMMENT_CHANCE, REPLY_CHANCE, STORY_CHANCE = 0.22, 0.55, 0.7


class Plan:
    """What these people do, decided in advance."""

    def __init__(self, people: Sequence[Person], seed: int) -> None:
        self.people, self.seed = people, seed

    def chance(self, *about: str | int) -> float:
        """A number between 0 and 1 that depends on the seed and on what it is about."""
        digest = hashlib.blake2b(repr((self.seed, about)).encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64

    def follows(self) -> list[tuple[str, str]]:
        """Pairs of follower and followee. Everybody follows who signed up before them, so that nobody is alone."""
        return [
            (one.username, other.username)
            for place, one in enumerate(self.people)
            for other in self.people
            if one is not other
            and (
                other is self.people[place - 1]
                or self.chance("follow", one.username, other.username) < other.fame
            )
        ]

    def photos(self) -> list[PlannedPhoto]:
        """All photos in the order they are posted, shuffled across people."""
        photos = [
            PlannedPhoto(person.username, number, photo)
            for person in self.people
            for number, photo in enumerate(person.photos, start=1)
        ]
        return sorted(photos, key=lambda photo: self.chance("order", photo.username, photo.number))

    def likes(self) -> list[tuple[str, PlannedPhoto]]:
        """Who likes what: mostly those who follow the author."""
        follows = set(self.follows())
        return [
            (person.username, photo)
            for photo in self.photos()
            for person in self.people
            if person.username != photo.username
            and self.chance("like", person.username, photo.username, photo.number)
            < (LIKE_CHANCE_FOLLOWER if (person.username, photo.username) in follows else LIKE_CHANCE_OTHERS)
        ]

    def comments(self) -> list[PlannedComment]:
        """Comments of followers, each text at most once under a photo, and replies of authors."""
        return [comment for photo in self.photos() for comment in self._comments_on(photo)]

    def stories(self) -> list[PlannedPhoto]:
        """The stories of today: of most people, one or two of their photos."""
        return [
            PlannedPhoto(person.username, number, photo)
            for person in self.people
            if person.photos and self.chance("tells", person.username) < STORY_CHANCE
            for number, photo in enumerate(
                person.photos[: 1 + (self.chance("more", person.username) < STORY_CHANCE)], start=1
            )
        ]

    def _comments_on(self, photo: PlannedPhoto) -> list[PlannedComment]:
        follows = set(self.follows())
        texts = load_texts()
        lines = list(texts.comments.get(photo.photo.scene, ()))
        planned: list[PlannedComment] = []
        for person in self.people:
            is_follower = (person.username, photo.username) in follows
            about = (person.username, photo.username, photo.number)
            if not lines or not is_follower or self.chance("talk", *about) >= COMMENT_CHANCE:
                continue
            text = lines.pop(int(self.chance("line", *about) * len(lines)))
            replies = texts.replies["any"]
            reply = replies[int(self.chance("words", *about) * len(replies))]
            planned.append(
                PlannedComment(
                    person.username,
                    photo,
                    text,
                    reply if self.chance("answer", *about) < REPLY_CHANCE else "",
                )
            )
        return planned
