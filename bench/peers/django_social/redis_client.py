"""The worker's connection to Redis, opened once per process."""

from functools import cache

from bench.peers.django_social.events import BROKER
from redis import Redis


@cache
def get_redis() -> Redis:
    """Return the client of this process; its connections stay open."""
    return Redis.from_url(BROKER)
