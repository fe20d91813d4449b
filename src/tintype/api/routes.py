"""Every controller of the API, one line each."""

from litestar import Controller

from tintype.api.accounts import AccountsApi
from tintype.api.moderation import ModerationApi
from tintype.api.notifications import NotificationsApi
from tintype.api.posts import PostsApi
from tintype.api.push import PushApi
from tintype.api.reports import ReportsApi

CONTROLLERS: tuple[type[Controller], ...] = (
    AccountsApi,
    PostsApi,
    NotificationsApi,
    PushApi,
    ReportsApi,
    ModerationApi,
)
