"""The demo community: people with posts, follows, likes, comments and stories, for a site that has nothing to show."""

from collections.abc import Sequence

from tintype.base.ids import AccountId
from tintype.demo.activity import DemoActivity
from tintype.demo.models import ActivitySummary, Person, ReportProgress, Summary
from tintype.demo.population import Population
from tintype.wiring import Rooms


class Demo:
    """Creates the demo community in an installation. Every method is safe to repeat and to interrupt."""

    def __init__(self, rooms: Rooms, *, password: str, seed: int = 1, pause_s: float = 5.0) -> None:
        self._rooms, self._seed = rooms, seed
        self._population = Population(rooms, password=password, seed=seed, pause_s=pause_s)

    async def populate(
        self, people: Sequence[Person], progress: ReportProgress, *, newcomer: AccountId | None = None
    ) -> Summary:
        """Sign up those who are missing, and add their follows, posts and likes; the newcomer follows some of them."""
        return await self._population.create(people, progress, newcomer=newcomer)

    async def add_activity(self, people: Sequence[Person], progress: ReportProgress) -> ActivitySummary:
        """Give those who have signed up avatars, bios, comments and stories of today."""
        return await DemoActivity(self._rooms, people, seed=self._seed).add(progress)
