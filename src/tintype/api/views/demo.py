"""Whether the demo community is offered, and how far it is."""

import msgspec

from tintype.base.job_progress import JobState
from tintype.demo import DemoStatus


class DemoView(msgspec.Struct, frozen=True):
    """Whether the viewer may start the demo, and how far it is: `done` of `total` steps of a stage."""

    is_offered: bool
    state: JobState
    stage: str
    done: int
    total: int


def show_demo(status: DemoStatus) -> DemoView:
    """The offer and the progress of the demo."""
    progress = status.progress
    return DemoView(status.is_offered, progress.state, progress.stage, progress.done, progress.total)
