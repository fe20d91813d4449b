"""The jobs the sandbox knows, by name: where each function lies and what it may use.

Targets are text, so that a web process can ask for a job without loading the libraries it needs; the helper loads
those of `JOBS` once, before the first job.
"""

import msgspec

MEBIBYTE = 1024 * 1024


class Limits(msgspec.Struct, frozen=True):
    """What one job may use; past it the job ends."""

    memory_bytes: int = 1536 * MEBIBYTE
    """Address space, of which about 300 MiB are the libraries."""

    cpu_s: int = 15
    file_bytes: int = 64 * MEBIBYTE
    """The largest file it may write."""

    open_files: int = 64


class Job(msgspec.Struct, frozen=True):
    """One job: `module:function`, a function of one annotated argument, both it and its result msgspec's."""

    target: str
    limits: Limits = Limits()
    at_once: int = 0
    """How many may run side by side under one helper, the rest wait; 0 is one per core."""


JOBS: dict[str, Job] = {
    "make_photo": Job("tintype.media.photos.jobs:make_photo_job"),
    "convert_photo": Job("tintype.media.photos.jobs:convert_job"),
    "probe_video": Job("tintype.media.videos.jobs:probe"),
    "make_poster": Job("tintype.media.videos.jobs:make_poster", Limits(cpu_s=30)),
    "make_video": Job(
        "tintype.media.videos.jobs:make_video",
        Limits(memory_bytes=3072 * MEBIBYTE, cpu_s=900, file_bytes=256 * MEBIBYTE),
        at_once=1,
    ),
}
