"""Something happens to a reader: so a page that was read before has to be made anew."""

from tintype.base.ids import AccountId
from tintype.base.settings import Settings
from tintype.base.ties import Ties
from tintype.base.wire import Wire
from tintype.feed.lists import Lists


class News:
    """What Redis is told when somebody posts and the reader likes something, without any difference to the page."""

    def __init__(self, wire: Wire, settings: Settings) -> None:
        self._wire, self._ties = wire, Ties(wire, settings.namespace)
        self._lists = Lists(wire, f"{settings.namespace}:timeline", keep_s=settings.feed_idle_days * 86_400)
        self._newest: dict[AccountId, int] = {}

    async def bring(self, reader: AccountId) -> None:
        """The timeline changes (its newest post is put where it was), and the reader stands otherwise."""
        if reader not in self._newest:
            found = await self._lists.read(reader)
            if found is None:
                return
            self._newest[reader] = found.ids[-1]
        await self._wire.ask(("LSET", self._lists.key(reader), 0, self._newest[reader]))
        await self._ties.changed(reader)
