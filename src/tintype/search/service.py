"""The search room as others use it."""

from shardwright.routing import Shards
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, Schedule
from tintype.base.pages import Page
from tintype.base.personal_data import PersonalDataHolder
from tintype.graph import Graph, Visibility
from tintype.posts import Post, Posts
from tintype.redis.rate_limits import RateLimiter
from tintype.search.captions import Captions
from tintype.search.dependencies import SearchDependencies
from tintype.search.models import (
    NamedPlace,
    NearbyPlace,
    PersonFound,
    RecentKind,
    RecentSearch,
    SuggestedPlace,
    TagFound,
    TopicCursor,
    TopicOrder,
)
from tintype.search.named_places import NamedPlaces
from tintype.search.people import People
from tintype.search.personal_data import SearchPersonalData
from tintype.search.place_suggestions import suggest_places
from tintype.search.places import Places
from tintype.search.rebuild import Progress, Rebuild
from tintype.search.recent_searches import RecentSearches
from tintype.search.tags import Tags
from tintype.search.topic_scoring import TopicScoring
from tintype.search.topics import PLACE, TAG, Topics


class Search:
    """Finds people, hashtags, places and captions, lists posts of a hashtag or place, and stores recent searches."""

    def __init__(
        self, shards: Shards, visibility: Visibility, graph: Graph, posts: Posts, limiter: RateLimiter
    ) -> None:
        deps = SearchDependencies(shards, visibility, graph, posts, limiter)
        self._named_places = NamedPlaces(deps)
        self._people, self._tags, self._places = People(deps), Tags(deps), Places(deps, self._named_places)
        self._captions = Captions(deps)
        self._topics = Topics(deps, self._captions, self.index_topic_name)
        self._recent = RecentSearches(deps, self._places)
        self._scoring = TopicScoring(deps, self._topics, self.index_topic_name)
        self._rebuild = Rebuild(
            deps, people=self._people, topics=self._topics, tags=self._tags, places=self._places
        )
        self.personal_data: PersonalDataHolder = SearchPersonalData(
            deps,
            people=self._people,
            topics=self._topics,
            recent=self._recent,
            named_places=self._named_places,
        )

    async def find_people(self, text: str, *, viewer: AccountId | None, limit: int) -> list[PersonFound]:
        """People the viewer may see: those they follow first, then friends of friends, then the popular."""
        return await self._people.find(text, viewer=viewer, limit=limit)

    async def find_tags(self, text: str, *, limit: int) -> list[TagFound]:
        """Hashtags that begin as typed, the most used first, then those it may be a misspelling of."""
        return await self._tags.find(text, limit=limit)

    async def get_tag(self, text: str) -> TagFound:
        """One hashtag with its exact count of public posts."""
        return await self._tags.get(text)

    async def find_places(self, text: str, *, viewer: AccountId, limit: int) -> list[NamedPlace]:
        """Places by any word of their name: public ones, those with most posts first, and the viewer's own."""
        return await self._places.find(text, viewer=viewer, limit=limit)

    async def suggest_places(self, text: str, *, viewer: AccountId, limit: int) -> list[SuggestedPlace]:
        """Places to choose for a post: those of `find_places`, then towns and cities of the gazetteer."""
        return await suggest_places(self._places, text, viewer=viewer, limit=limit)

    async def list_own_places(self, account_id: AccountId) -> list[NamedPlace]:
        """The places that an account has named, the latest first."""
        return await self._named_places.list_latest(account_id)

    async def find_places_near(
        self, latitude: float, longitude: float, *, viewer: AccountId, radius_m: float, limit: int
    ) -> list[NearbyPlace]:
        """Places within a radius of at most five kilometres, public ones and the viewer's own, the nearest first."""
        return await self._places.find_near(
            latitude, longitude, viewer=viewer, radius_m=radius_m, limit=limit
        )

    async def get_place(self, place_id: str, *, viewer: AccountId | None) -> NamedPlace:
        """A place that a public post names, or that the viewer has named."""
        return await self._places.get(place_id, viewer=viewer)

    async def get_or_create_place(
        self, by: AccountId, name: str, latitude: float, longitude: float
    ) -> NamedPlace:
        """The place of this name at this point: an existing one within 100 metres, or a new one."""
        return await self._places.get_or_create(by, name, latitude, longitude)

    async def count_posts(self, topic: str) -> int:
        """How many public posts a topic (a hashtag or place) has."""
        return await self._topics.count(topic)

    async def list_posts(
        self, topic: str, *, viewer: AccountId | None, order: TopicOrder, after: TopicCursor, limit: int
    ) -> tuple[list[Post], TopicCursor | None]:
        """A page of a topic's posts that the viewer may see, and the cursor of the next page."""
        return await self._topics.page(topic, viewer=viewer, order=order, after=after, limit=limit)

    async def find_posts(self, text: str, *, viewer: AccountId | None, before: int, limit: int) -> Page[Post]:
        """A page of posts that the viewer may see, by the words of their captions, newest first."""
        return await self._captions.find(text, viewer=viewer, before=before, limit=limit)

    async def list_recent_searches(self, account_id: AccountId) -> list[RecentSearch]:
        """The account's recent searches, latest first."""
        return await self._recent.list_latest(account_id)

    async def add_recent_search(self, account_id: AccountId, kind: RecentKind, subject: str) -> RecentSearch:
        """Put a search at the front of the account's recent searches."""
        return await self._recent.add(account_id, kind, subject)

    async def remove_recent_search(self, account_id: AccountId, search_id: int) -> None:
        """Remove one recent search."""
        await self._recent.remove(account_id, search_id)

    async def clear_recent_searches(self, account_id: AccountId) -> None:
        """Remove all recent searches of the account."""
        await self._recent.clear(account_id)

    async def index_account(self, account_id: AccountId) -> None:
        """Bring the index in line with the account as it is now."""
        await self._people.index(account_id)

    async def index_post(self, post_id: PostId, author_id: AccountId) -> None:
        """List the post under its hashtags, place and words, as far as it is public now."""
        await self._topics.index(post_id, author_id)

    async def index_posts_of(self, author_id: AccountId) -> None:
        """Index every post of an author."""
        await self._topics.index_all_of(author_id)

    async def index_topic_name(self, topic: str) -> None:
        """Index the name of a hashtag or place with its current count of posts."""
        if topic.startswith(TAG):
            await self._tags.index(topic.removeprefix(TAG))
        elif topic.startswith(PLACE):
            await self._places.index(topic.removeprefix(PLACE))

    async def score_topics(self) -> None:
        """Score and trim the topics that have changed since they were last scored."""
        await self._scoring.score_due()

    async def rebuild(self, progress: Progress) -> dict[str, int]:
        """Rebuild the index from the other rooms, while everything goes on; returns counts by stage."""
        return await self._rebuild.run(progress)

    def handlers(self) -> list[Handler]:
        """Reactions to events of accounts, follows and posts, which keep the index current."""
        return [*self._people.handlers(), *self._topics.handlers()]

    def schedules(self) -> list[Schedule]:
        """Work that this room repeats: the scoring of topics."""
        return self._scoring.schedules()
