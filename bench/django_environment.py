"""Environment of the Django peers' processes (`bench/peers/django_social`)."""

import os
from urllib.parse import urlsplit


def django_environment(postgres: str, broker: str = "") -> dict[str, str]:
    """Use this database; with a broker, have a Celery worker do what follows from a write."""
    address = urlsplit(postgres)
    return os.environ | {
        "PEER_HOST": address.hostname or "",
        "PEER_PORT": str(address.port),
        "PEER_USER": address.username or "",
        "PEER_PASSWORD": address.password or "",
        "PEER_NAME": address.path.lstrip("/"),
        "PEER_REDIS": broker,
    }
