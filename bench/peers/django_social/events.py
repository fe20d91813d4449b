"""What follows from a write: nothing in the plain peer, a Celery task where a broker is given (`PEER_REDIS`)."""

import os
from functools import partial
from typing import Any

from django.db import transaction

BROKER = os.environ.get("PEER_REDIS", "")


def announce(event: str, **facts: Any) -> None:
    """Have the worker handle this event once the transaction has committed.

    As usual with Celery, the event is lost if the process dies between the commit and the message.
    """
    if BROKER:
        from bench.peers.django_social import tasks

        transaction.on_commit(partial(getattr(tasks, event).delay, **facts))
