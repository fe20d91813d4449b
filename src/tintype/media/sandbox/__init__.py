"""The sandbox: every decoder runs in a process of its own that may do nothing but its job.

Photos and videos come from strangers, and decoders have bugs. A job is a plain function named in `JOBS`; it runs in
a process that is forked for it from a small helper with the libraries loaded, and that is gone with its answer.
A crash, an endless loop or a bomb fails that job, with a refusal, and nothing else. What is enforced is said in
`limits` (everywhere) and `walls` (where the kernel lends a hand).
"""

from tintype.media.sandbox.client import run_in_sandbox
from tintype.media.sandbox.registry import JOBS, Job, Limits

__all__ = ["JOBS", "Job", "Limits", "run_in_sandbox"]
