"""HTTP: translates requests into calls of rooms and their results into JSON. It makes no decisions.

`http` is the toolkit, `routes` has one file per room, `views` what is shown, `feed_fast_path` the hottest read.
"""

from tintype.api.app import create_app
from tintype.api.http.connection_guard import ConnectionGuard, connection_limits
from tintype.api.http.metrics_listener import MetricsListener
from tintype.api.http.request_log import RequestLog

__all__ = ["ConnectionGuard", "MetricsListener", "RequestLog", "connection_limits", "create_app"]
