"""Every route of the API: one file per room, with the bodies it takes; what it answers is in `views`."""

from litestar.types import ControllerRouterHandler

from tintype.api.pages import oembed, robots_txt, sitemap_index, sitemap_page
from tintype.api.routes.accounts import AccountsApi
from tintype.api.routes.comments import CommentsApi
from tintype.api.routes.demo import DemoApi
from tintype.api.routes.direct import DirectApi
from tintype.api.routes.direct_messages import DirectMessagesApi
from tintype.api.routes.encrypted_threads import EncryptedThreadsApi
from tintype.api.routes.encryption import EncryptionApi
from tintype.api.routes.explore import ExploreApi
from tintype.api.routes.feed import FeedApi
from tintype.api.routes.graph import GraphApi
from tintype.api.routes.hashtags import HashtagsApi, followed_tags
from tintype.api.routes.health import healthz, readyz
from tintype.api.routes.highlights import HighlightsApi
from tintype.api.routes.imports import ImportArchivesApi, ImportsApi
from tintype.api.routes.invitations import InvitationsApi
from tintype.api.routes.looks import LooksApi
from tintype.api.routes.media import MediaApi
from tintype.api.routes.media_files import media_file
from tintype.api.routes.moderation import ModerationApi
from tintype.api.routes.notifications import NotificationsApi
from tintype.api.routes.own_account import OwnAccountApi
from tintype.api.routes.people import LISTS_OF_PEOPLE, PeopleApi
from tintype.api.routes.personal_data import PersonalDataApi
from tintype.api.routes.places import PlacesApi
from tintype.api.routes.posts import PostsApi
from tintype.api.routes.presence import PresenceApi
from tintype.api.routes.profiles import ProfilesApi
from tintype.api.routes.push import PushApi
from tintype.api.routes.ranking import RankingApi
from tintype.api.routes.realtime import RealtimeApi
from tintype.api.routes.reports import ReportsApi
from tintype.api.routes.saves import SavesApi
from tintype.api.routes.scheduled_posts import ScheduledPostsApi
from tintype.api.routes.search import SearchApi
from tintype.api.routes.security import SecurityApi
from tintype.api.routes.security_txt import security_txt
from tintype.api.routes.sessions import SessionsApi
from tintype.api.routes.storage import StorageApi
from tintype.api.routes.stories import StoriesApi
from tintype.api.routes.story_stickers import StoryStickersApi
from tintype.api.routes.sync import SyncApi
from tintype.api.routes.tokens import TokensApi
from tintype.api.routes.tus import TusApi

ROUTES: tuple[ControllerRouterHandler, ...] = (
    healthz,
    readyz,
    security_txt,
    robots_txt,
    sitemap_index,
    sitemap_page,
    oembed,
    media_file,
    AccountsApi,
    InvitationsApi,
    GraphApi,
    PeopleApi,
    *LISTS_OF_PEOPLE,
    OwnAccountApi,
    SessionsApi,
    TokensApi,
    SecurityApi,
    PostsApi,
    ScheduledPostsApi,
    FeedApi,
    MediaApi,
    TusApi,
    ImportsApi,
    ImportArchivesApi,
    LooksApi,
    SearchApi,
    HashtagsApi,
    followed_tags,
    PlacesApi,
    PersonalDataApi,
    StorageApi,
    CommentsApi,
    SavesApi,
    ProfilesApi,
    StoriesApi,
    StoryStickersApi,
    HighlightsApi,
    DirectApi,
    DirectMessagesApi,
    EncryptionApi,
    EncryptedThreadsApi,
    NotificationsApi,
    SyncApi,
    RealtimeApi,
    PresenceApi,
    PushApi,
    RankingApi,
    ExploreApi,
    ReportsApi,
    ModerationApi,
    DemoApi,
)
