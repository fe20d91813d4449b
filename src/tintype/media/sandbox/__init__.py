"""The sandbox: every decoder runs in a process of its own, which can do nothing but its job.

Photos and videos come from strangers, and decoders have bugs. A job is a plain function named in `JOBS`; it runs in
a process that a small fork server, with the libraries loaded, forks for it, and that ends with its reply. A crash, an
endless loop or a decompression bomb fails that job with an error, and nothing else. What is enforced is described in
`limits` (rlimits, on every Linux) and `isolation` (namespaces, Landlock and seccomp, where the kernel has them).
"""

from tintype.media.sandbox.client import run_in_sandbox
from tintype.media.sandbox.registry import JOBS, JobLimits, SandboxJob

__all__ = ["JOBS", "JobLimits", "SandboxJob", "run_in_sandbox"]
