"""Serves the peer, or creates its data: `python -m bench.peers.django_social.serve serve PORT | seed N`."""

import datetime as dt
import sys

from bench.peers.django_social import site  # noqa: F401 - configures Django

POSTS_EACH = 3


def make_tables() -> None:
    """Create every table, empty."""
    from django.db import connection

    from bench.peers.django_social import models

    tables = [models.Account, models.Token, models.Follow, models.Block, models.Mute]
    tables += [models.Post, models.Media, models.Like, models.Save, models.Comment]
    with connection.schema_editor() as editor:
        for table in tables:
            editor.create_model(table)


def seed_feed(text: str) -> None:
    """Create the tables and the dataset given as JSON."""
    from bench.peers.django_social.feed import seed_dataset

    make_tables()
    seed_dataset(text)


def seed(people: int) -> None:
    """Create the tables, and accounts with a token, three posts and photos yet to be posted."""
    from django.db import connection
    from django.utils import timezone

    from bench.peers.django_social import models

    make_tables()
    later = timezone.now() + dt.timedelta(days=1)
    accounts = models.Account.objects.bulk_create(
        models.Account(username=f"person{number}", post_count=POSTS_EACH) for number in range(people)
    )
    models.Token.objects.bulk_create(
        models.Token(key=f"token{number}", account=each, expires_at=later)
        for number, each in enumerate(accounts)
    )
    posts = models.Post.objects.bulk_create(
        models.Post(author=each, caption="a post") for each in accounts for _ in range(POSTS_EACH)
    )
    models.Media.objects.bulk_create(
        models.Media(owner=each.author, post=each, folder=f"m{each.pk}", width=1080, height=1080)
        for each in posts
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def add_media(count: int) -> None:
    """Create photos yet to be posted, `count` per account; their ids follow the accounts' order."""
    from bench.peers.django_social import models

    made = models.Media.objects.bulk_create(
        models.Media(owner_id=pk, folder="waiting", width=1080, height=1080)
        for pk in models.Account.objects.order_by("pk").values_list("pk", flat=True)
        for _ in range(count)
    )
    print(made[0].pk)


def serve(port: int) -> None:
    """Serve with one process, like ours, and threads for requests that wait for the database."""
    from granian.constants import Interfaces
    from granian.log import LogLevels
    from granian.server import Server

    Server(
        "bench.peers.django_social.site:application",
        address="127.0.0.1",
        port=port,
        interface=Interfaces.WSGI,
        workers=1,
        blocking_threads=8,
        log_access=False,
        log_level=LogLevels.warning,
    ).serve()


if __name__ == "__main__":
    if sys.argv[1] == "feed":
        seed_feed(sys.argv[2])
    else:
        {"seed": seed, "media": add_media, "serve": serve}[sys.argv[1]](int(sys.argv[2]))
