"""Replaces Tintype's own processes in tests of the stack: `fake_program.py ROLE [ARGUMENT…]`."""

# ruff: noqa: T201 - its output is its interface

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
        """Log nothing."""


def web() -> None:
    """Answer /healthz, with a helper process that ignores SIGTERM."""
    helper = subprocess.Popen([sys.executable, __file__, "stubborn"])
    print(f"helper {helper.pid}", flush=True)
    HTTPServer(("127.0.0.1", int(os.environ["TINTYPE_HTTP_PORT"])), Healthy).serve_forever()


def worker() -> None:
    """Sleep."""
    print("working", flush=True)
    time.sleep(3600)


def stubborn() -> None:
    """Sleep, and ignore every signal that can be ignored."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    print("staying", flush=True)
    time.sleep(3600)


def tell(file: str) -> None:
    """Write its environment to a file."""
    Path(file).write_text(json.dumps(dict(os.environ)))


def fail(code: str) -> None:
    """Exit with an error code and a message."""
    print("the schema is from the future", flush=True)
    sys.exit(int(code))


def fade(seconds: str) -> None:
    """Run for a moment, then fail."""
    time.sleep(float(seconds))
    fail("7")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
