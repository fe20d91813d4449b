"""Every controller of the API, one line each."""

from litestar import Controller

from tintype.api.accounts import AccountsApi
from tintype.api.comments import CommentsApi
from tintype.api.posts import PostsApi
from tintype.api.saves import SavesApi

CONTROLLERS: tuple[type[Controller], ...] = (
    AccountsApi,
    PostsApi,
    CommentsApi,
    SavesApi,
)
