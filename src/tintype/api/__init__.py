"""HTTP: translates requests into calls of rooms and their results into JSON. It makes no decisions.

`http` is the toolkit, `routes` has one file per room, `views` what is shown, `feed_fast_path` the hottest read.
"""

from tintype.api.app import create_app
from tintype.api.http.request_log import RequestLog

__all__ = ["RequestLog", "create_app"]
