"""Stands in for Tintype's own processes in tests of the stack: `standin.py ROLE [ARGUMENT…]`."""

# ruff: noqa: T201 - it speaks through its output

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Healthy(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - likewise
        """Say nothing."""


def web() -> None:
    """Answers /healthz, with a helper process that ignores polite requests to leave."""
    helper = subprocess.Popen([sys.executable, __file__, "stubborn"])
    print(f"helper {helper.pid}", flush=True)
    HTTPServer(("127.0.0.1", int(os.environ["TINTYPE_HTTP_PORT"])), Healthy).serve_forever()


def worker() -> None:
    """Does nothing, for a long time."""
    print("working", flush=True)
    time.sleep(3600)


def stubborn() -> None:
    """Does nothing and cannot be asked to stop."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    print("staying", flush=True)
    time.sleep(3600)


def tell(file: str) -> None:
    """Write down the environment it was given."""
    Path(file).write_text(json.dumps(dict(os.environ)))


def fail(code: str) -> None:
    """End badly, with a reason."""
    print("the schema is from the future", flush=True)
    sys.exit(int(code))


def fade(seconds: str) -> None:
    """Seem well for a moment, then die."""
    time.sleep(float(seconds))
    fail("7")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
