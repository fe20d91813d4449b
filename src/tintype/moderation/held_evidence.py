"""Evidence that is kept while a case is open: the files of reported messages, which their authors may take back.

The text of a reported message is copied into its case. Its files stay where they are, with the author, closed to
everybody but moderators once the message is gone, and are deleted when the case is closed. A sweep ends what a process
that died has left.
"""

from typing import cast

from tintype.base.log import get_log
from tintype.direct import Direct
from tintype.moderation.kinds import ObjectKind
from tintype.moderation.models import Case, ObjectSnapshot
from tintype.moderation.queue_partitions import QueuePartitions

log = get_log("moderation")


class HeldEvidence:
    """Keeps files of reported objects, and lets them go."""

    def __init__(self, direct: Direct, partitions: QueuePartitions) -> None:
        self._direct, self._partitions = direct, partitions

    async def hold(self, kind: ObjectKind, object_id: int, snapshot: ObjectSnapshot) -> None:
        """Keep the files that a snapshot shows, as far as their owner could delete them; safe to repeat."""
        await self._direct.hold_evidence(snapshot.media_ids, _key(kind, object_id))

    async def release(self, case: Case) -> None:
        """Let the files of a case go if it is closed; safe to repeat."""
        if case.status == "closed":
            await self._direct.release_evidence(case.owner_id, _key(case.kind, case.object_id))

    async def sweep(self) -> None:
        """Let go what is kept for cases that are closed or were never opened."""
        for owner_id, key in await self._direct.list_held_evidence():
            kind, _, object_id = key.partition(":")
            case = await self._partitions.find(cast("ObjectKind", kind), int(object_id))
            if case is None or case.status == "closed":
                await self._direct.release_evidence(owner_id, key)
                log.info("evidence.released", case=key)


def _key(kind: ObjectKind, object_id: int) -> str:
    return f"{kind}:{object_id}"
