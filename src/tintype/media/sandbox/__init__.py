"""The sandbox: every decoder runs in a process of its own, which can do nothing but its job.

Photos and videos come from strangers, and decoders have bugs. A job is a plain function named in `JOBS`; it runs in
a helper, a process that a small fork server, with the libraries loaded, has forked ahead of it, and that ends with its
reply. A crash, an endless loop or a decompression bomb fails that job with an error, and nothing else. What surrounds a
helper is described in `walls`: an account of its own, limits, and allow-lists of paths and system calls.
"""

from tintype.media.sandbox.check_walls import check_walls, log_missing_walls
from tintype.media.sandbox.client import run_in_sandbox
from tintype.media.sandbox.connection import configure_sandbox
from tintype.media.sandbox.job_folders import PREFIX
from tintype.media.sandbox.preload import load_encodings, load_modules, load_package
from tintype.media.sandbox.protocol import SandboxOptions
from tintype.media.sandbox.registry import (
    JOBS,
    ORIGINAL,
    OUT,
    PROGRESS,
    SOURCE,
    TEMPORARY,
    JobLimits,
    SandboxJob,
)
from tintype.media.sandbox.walls import RequiredWalls, Wall, missing_walls

__all__ = [
    "JOBS",
    "ORIGINAL",
    "OUT",
    "PREFIX",
    "PROGRESS",
    "SOURCE",
    "TEMPORARY",
    "JobLimits",
    "RequiredWalls",
    "SandboxJob",
    "SandboxOptions",
    "Wall",
    "check_walls",
    "configure_sandbox",
    "load_encodings",
    "load_modules",
    "load_package",
    "log_missing_walls",
    "missing_walls",
    "run_in_sandbox",
]
