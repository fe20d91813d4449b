"""Serves the peer, runs its worker or creates its data.

`python -m bench.peers.django_social.serve serve PORT | work THREADS | seed N | media N`.
"""

import datetime as dt
import sys
import warnings

from bench.peers.django_social import site  # noqa: F401 - configures Django

POSTS_EACH = 3


def make_tables() -> None:
    """Create every table, empty."""
    from django.db import connection

    from bench.peers.django_social import models

    tables = [models.Account, models.Token, models.Follow, models.Block, models.Mute]
    tables += [models.Post, models.Media, models.Like, models.Save, models.Comment]
    tables += [models.Follower, models.Notification, models.NotificationActivity]
    tables += [models.NotificationPreference, models.SearchEntry]
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
    from bench.peers.django_social.search import index_people

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
    index_people()
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
        log_level=LogLevels.error,  # it warns of eight threads on few cores; they wait for the database
    ).serve()


def work(threads: int) -> None:
    """Run the Celery worker: threads, which cost less than processes for tasks that wait for the database.

    It is spared the chatter between workers that a single one does not need.
    """
    from celery.exceptions import SecurityWarning

    from bench.peers.django_social.tasks import app

    warnings.simplefilter("ignore", SecurityWarning)  # of being root, where the bench is
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=ERROR"]
    app.worker_main(["--quiet", "worker", "--pool=threads", f"--concurrency={threads}", *quiet])


if __name__ == "__main__":
    if sys.argv[1] == "feed":
        seed_feed(sys.argv[2])
    else:
        {"seed": seed, "media": add_media, "serve": serve, "work": work}[sys.argv[1]](int(sys.argv[2]))
