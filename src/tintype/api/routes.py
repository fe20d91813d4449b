"""Every controller of the API, one line each."""

from litestar import Controller

from tintype.api.accounts import AccountsApi
from tintype.api.belongings import BelongingsApi
from tintype.api.comments import CommentsApi
from tintype.api.demo import DemoApi
from tintype.api.feed import FeedApi
from tintype.api.graph import GraphApi
from tintype.api.highlights import HighlightsApi
from tintype.api.looks import LooksApi
from tintype.api.media import MediaApi
from tintype.api.moderation import ModerationApi
from tintype.api.notifications import NotificationsApi
from tintype.api.people import PeopleApi
from tintype.api.places import PlacesApi
from tintype.api.posts import PostsApi
from tintype.api.profile import ProfileApi
from tintype.api.profiles import ProfilesApi
from tintype.api.push import PushApi
from tintype.api.ranking import RankingApi
from tintype.api.reports import ReportsApi
from tintype.api.saves import SavesApi
from tintype.api.search import SearchApi
from tintype.api.security import SecurityApi
from tintype.api.sessions import SessionsApi
from tintype.api.stories import StoriesApi
from tintype.api.tags import TagsApi
from tintype.api.tokens import TokensApi
from tintype.api.tus import TusApi

CONTROLLERS: tuple[type[Controller], ...] = (
    AccountsApi,
    GraphApi,
    PeopleApi,
    ProfileApi,
    SessionsApi,
    TokensApi,
    SecurityApi,
    PostsApi,
    FeedApi,
    MediaApi,
    TusApi,
    LooksApi,
    SearchApi,
    TagsApi,
    PlacesApi,
    BelongingsApi,
    CommentsApi,
    SavesApi,
    ProfilesApi,
    StoriesApi,
    HighlightsApi,
    NotificationsApi,
    PushApi,
    RankingApi,
    ReportsApi,
    ModerationApi,
    DemoApi,
)
