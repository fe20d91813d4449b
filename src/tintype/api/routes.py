"""Every controller of the API, one line each."""

from litestar import Controller

from tintype.api.accounts import AccountsApi
from tintype.api.notifications import NotificationsApi, PushApi
from tintype.api.posts import PostsApi

CONTROLLERS: tuple[type[Controller], ...] = (
    AccountsApi,
    PostsApi,
    NotificationsApi,
    PushApi,
)
