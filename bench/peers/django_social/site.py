"""Configures Django and offers the WSGI application: `bench.peers.django_social.site:application`."""

import os

import django
from django.conf import settings

settings.configure(
    DEBUG=False,
    SECRET_KEY="a peer in a bench",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="bench.peers.django_social.urls",
    INSTALLED_APPS=["bench.peers.django_social"],
    MIDDLEWARE=[],
    USE_TZ=True,
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "HOST": os.environ["PEER_HOST"],
            "PORT": os.environ["PEER_PORT"],
            "USER": os.environ["PEER_USER"],
            "PASSWORD": os.environ["PEER_PASSWORD"],
            "NAME": os.environ["PEER_NAME"],
            "CONN_MAX_AGE": None,
            "CONN_HEALTH_CHECKS": False,
        }
    },
    LOGGING_CONFIG=None,
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402 - Django must be configured first

application = get_wsgi_application()
