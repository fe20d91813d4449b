"""The jobs of the sandbox, by name: which function each runs and how much it may use.

Targets are text, so that a web process can start a job without loading the libraries it needs; the fork server loads
those of `JOBS` once, before the first job.
"""

import msgspec

MEBIBYTE = 1024 * 1024


class JobLimits(msgspec.Struct, frozen=True):
    """Resource limits of one job; a job that exceeds them is ended."""

    memory_bytes: int = 1536 * MEBIBYTE
    """Address space, of which about 300 MiB are the libraries."""

    cpu_s: int = 15
    file_bytes: int = 64 * MEBIBYTE
    """The largest file it may write."""

    open_files: int = 64


class SandboxJob(msgspec.Struct, frozen=True):
    """One job: `module:function`, a function of one annotated argument; msgspec encodes the argument and the result."""

    target: str
    limits: JobLimits = JobLimits()
    at_once: int = 0
    """How many may run at once under one fork server, while others wait; 0 means one per core."""


JOBS: dict[str, SandboxJob] = {
    "make_photo": SandboxJob("tintype.media.photos.sandbox_jobs:make_photo_job"),
    "convert_photo": SandboxJob("tintype.media.photos.sandbox_jobs:convert_job"),
    "probe_video": SandboxJob("tintype.media.videos.sandbox_jobs:probe"),
    "make_poster": SandboxJob("tintype.media.videos.sandbox_jobs:make_poster", JobLimits(cpu_s=30)),
    "make_video": SandboxJob(
        "tintype.media.videos.sandbox_jobs:make_video",
        JobLimits(memory_bytes=3072 * MEBIBYTE, cpu_s=900, file_bytes=256 * MEBIBYTE),
        at_once=1,
    ),
}
