"""Every controller of the API, one line each."""

from litestar import Controller

from tintype.api.accounts import AccountsApi
from tintype.api.posts import PostsApi
from tintype.api.profiles import ProfilesApi

CONTROLLERS: tuple[type[Controller], ...] = (
    AccountsApi,
    PostsApi,
    ProfilesApi,
)
