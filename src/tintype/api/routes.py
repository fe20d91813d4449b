"""Every controller of the API, one line each."""

from litestar import Controller

from tintype.api.accounts import AccountsApi
from tintype.api.comments import CommentsApi
from tintype.api.graph import GraphApi
from tintype.api.people import PeopleApi
from tintype.api.posts import PostsApi
from tintype.api.profiles import ProfilesApi
from tintype.api.saves import SavesApi

CONTROLLERS: tuple[type[Controller], ...] = (
    AccountsApi,
    GraphApi,
    PeopleApi,
    PostsApi,
    CommentsApi,
    SavesApi,
    ProfilesApi,
)
