"""Writes an archive as large as one likes: `python -m tests.imports.make_archive 5000 archive.zip`.

Every post has a picture of its own, every seventh has three; captions are broken as Instagram breaks them.
"""

import sys
import zipfile
from pathlib import Path
from typing import Any

import msgspec

from tests.imports.archives import at, broken, media, picture

FOLDER = "your_instagram_activity/media"
SECONDS_BETWEEN = 61_200


def make_archive(path: Path, count: int) -> int:
    """Write an archive of Instagram's with so many posts; returns how many pictures it has."""
    posts: list[dict[str, Any]] = []
    pictures = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number in range(count):
            seconds = at(2013) + number * SECONDS_BETWEEN
            names = [
                f"media/posts/{number % 12:02}/{number}-{each}.jpg"
                for each in range(3 if number % 7 == 0 else 1)
            ]
            for name in names:
                archive.writestr(name, picture(pictures))
                pictures += 1
            caption = broken(f"Nº {number}, früher 🌷 #früher")
            if len(names) == 1:
                posts.append({"media": [media(names[0], seconds, caption)]})
            else:
                posts.append(
                    {
                        "media": [media(name) for name in names],
                        "title": caption,
                        "creation_timestamp": seconds,
                    }
                )
        archive.writestr(f"{FOLDER}/posts_1.json", msgspec.json.encode(posts[::-1]))
    return pictures


if __name__ == "__main__":
    sys.stdout.write(f"{make_archive(Path(sys.argv[2]), int(sys.argv[1]))} pictures\n")
