"""The jobs of the sandbox, by name: which function each runs and how much it may use.

Targets are text, so that a web process can start a job without loading the libraries it needs; the fork server loads
those of `JOBS` once, before the first job. A job finds its files by fixed names in a folder of its own.
"""

import msgspec

MEBIBYTE = 1024 * 1024

SOURCE = "in/source"
"""The file that a job was given, relative to the folder it runs in."""
OUT, ORIGINAL, TEMPORARY = "out", "original", "tmp"
"""The folders that a job may write to; its caller receives what is in the first two."""
PROGRESS = 40
"""The descriptor of the file that a job reports its progress to, if its caller wants that. Others are far lower."""
WARM_UP = "tintype.media.photos.sandbox_jobs:warm_up"
"""What a process runs before its job comes, so that the libraries are ready."""


class JobLimits(msgspec.Struct, frozen=True):
    """Resource limits of one job; a job that exceeds them is ended."""

    memory_bytes: int = 2048 * MEBIBYTE
    """Address space, of which about 480 MiB are the libraries and what they reserve."""

    cpu_s: int = 15
    file_bytes: int = 64 * MEBIBYTE
    """The largest file it may write."""

    folder_bytes: int = 256 * MEBIBYTE
    """All files it may write together."""


class SandboxJob(msgspec.Struct, frozen=True):
    """One job: `module:function`, a function of one annotated argument; msgspec encodes the argument and the result."""

    target: str
    limits: JobLimits = JobLimits()
    at_once: int = 0
    """How many may run at once under one fork server, while others wait; 0 means one per core."""


JOBS: dict[str, SandboxJob] = {
    "make_photo": SandboxJob("tintype.media.photos.sandbox_jobs:make_photo_job"),
    "make_large_photo": SandboxJob("tintype.media.photos.sandbox_jobs:make_large_photo_job"),
    "convert_photo": SandboxJob("tintype.media.photos.sandbox_jobs:convert_job"),
    "probe_video": SandboxJob("tintype.media.videos.sandbox_jobs:probe"),
    "make_poster": SandboxJob("tintype.media.videos.sandbox_jobs:make_poster", JobLimits(cpu_s=30)),
    "make_voice": SandboxJob("tintype.media.voices.sandbox_jobs:make_voice", JobLimits(cpu_s=60)),
    "clean_photo": SandboxJob("tintype.media.photos.sandbox_jobs:clean_photo_job"),
    "clean_video": SandboxJob(
        "tintype.media.videos.sandbox_jobs:clean_video",
        JobLimits(file_bytes=1024 * MEBIBYTE, folder_bytes=1024 * MEBIBYTE),
    ),
    "make_video": SandboxJob(
        "tintype.media.videos.sandbox_jobs:make_video",
        JobLimits(
            memory_bytes=3072 * MEBIBYTE,
            cpu_s=900,
            file_bytes=256 * MEBIBYTE,
            folder_bytes=768 * MEBIBYTE,
        ),
        at_once=1,
    ),
}
