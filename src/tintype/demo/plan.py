"""Who follows whom, who likes what, in which order photos appear: chance, but the same chance every time.

Each decision hangs on the names it is about and on nothing else. So a run that is repeated, or that adds people,
decides everything it decided before in the same way.
"""

import hashlib
from collections.abc import Sequence

from tintype.demo.models import Person, Remark, Shot
from tintype.demo.talk import all_talk

LIKED_BY_FOLLOWERS, LIKED_BY_STRANGERS = 0.65, 0.12
TALKATIVE, ANSWERS, TELLS = 0.22, 0.55, 0.7


class Plan:
    """The life of these people, settled before it begins."""

    def __init__(self, people: Sequence[Person], seed: int) -> None:
        self.people, self.seed = people, seed

    def chance(self, *about: str | int) -> float:
        """A number between 0 and 1 that depends on the seed and on what it is about."""
        digest = hashlib.blake2b(repr((self.seed, about)).encode(), digest_size=8).digest()
        return int.from_bytes(digest) / 2**64

    def follows(self) -> list[tuple[str, str]]:
        """Pairs of follower and followed. Everybody follows who joined before them, so that nobody is alone."""
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

    def shots(self) -> list[Shot]:
        """All photos in the order they are posted: mixed, as in life."""
        shots = [
            Shot(person.username, number, photo)
            for person in self.people
            for number, photo in enumerate(person.photos, start=1)
        ]
        return sorted(shots, key=lambda shot: self.chance("order", shot.username, shot.number))

    def likes(self) -> list[tuple[str, Shot]]:
        """Who likes what: mostly those who follow the author."""
        follows = set(self.follows())
        return [
            (person.username, shot)
            for shot in self.shots()
            for person in self.people
            if person.username != shot.username
            and self.chance("like", person.username, shot.username, shot.number)
            < (LIKED_BY_FOLLOWERS if (person.username, shot.username) in follows else LIKED_BY_STRANGERS)
        ]

    def remarks(self) -> list[Remark]:
        """What followers say, each line at most once under a photo, and what authors answer."""
        return [remark for shot in self.shots() for remark in self._remarks_on(shot)]

    def stories(self) -> list[Shot]:
        """What people show today: one or two of the things they like to photograph."""
        return [
            Shot(person.username, number, photo)
            for person in self.people
            if person.photos and self.chance("tells", person.username) < TELLS
            for number, photo in enumerate(
                person.photos[: 1 + (self.chance("more", person.username) < TELLS)], start=1
            )
        ]

    def _remarks_on(self, shot: Shot) -> list[Remark]:
        follows = set(self.follows())
        talk = all_talk()
        lines = list(talk.comments.get(shot.photo.scene, ()))
        said: list[Remark] = []
        for person in self.people:
            is_follower = (person.username, shot.username) in follows
            about = (person.username, shot.username, shot.number)
            if not lines or not is_follower or self.chance("talk", *about) >= TALKATIVE:
                continue
            text = lines.pop(int(self.chance("line", *about) * len(lines)))
            answers = talk.replies["any"]
            reply = answers[int(self.chance("words", *about) * len(answers))]
            said.append(
                Remark(person.username, shot, text, reply if self.chance("answer", *about) < ANSWERS else "")
            )
        return said
