"""Something happens to a reader: so a page that was read before has to be made anew."""

from tintype.base.ids import AccountId, PostId
from tintype.base.settings import Settings
from tintype.base.ties import Ties
from tintype.base.wire import Wire
from tintype.feed.lists import Lists


class News:
    """What another process would do to Redis when somebody posts and the reader likes something."""

    def __init__(self, wire: Wire, settings: Settings) -> None:
        self._lists = Lists(wire, f"{settings.namespace}:timeline", keep_s=settings.feed_idle_days * 86_400)
        self._ties = Ties(wire, settings.namespace)
        self._newest: dict[AccountId, PostId] = {}

    async def bring(self, reader: AccountId) -> None:
        """A post arrives on the timeline (one that is on top of it already), and the reader stands otherwise."""
        if reader not in self._newest:
            found = await self._lists.read(reader)
            if found is None:
                return
            self._newest[reader] = PostId(found.ids[-1])
        await self._lists.push(self._newest[reader], [reader])
        await self._ties.changed(reader)
