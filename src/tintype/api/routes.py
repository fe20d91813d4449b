"""Every controller of the API, one line each."""

from litestar import Controller

from tintype.api.accounts import AccountsApi
from tintype.api.belongings import BelongingsApi
from tintype.api.comments import CommentsApi
from tintype.api.graph import GraphApi
from tintype.api.people import PeopleApi
from tintype.api.places import PlacesApi
from tintype.api.posts import PostsApi
from tintype.api.profiles import ProfilesApi
from tintype.api.saves import SavesApi
from tintype.api.search import SearchApi
from tintype.api.tags import TagsApi

CONTROLLERS: tuple[type[Controller], ...] = (
    AccountsApi,
    GraphApi,
    PeopleApi,
    PostsApi,
    SearchApi,
    TagsApi,
    PlacesApi,
    BelongingsApi,
    CommentsApi,
    SavesApi,
    ProfilesApi,
)
