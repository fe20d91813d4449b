"""Scopes of API tokens: a route declares its scope, and an API token without it is refused.

A route without a scope refuses every API token. Sessions of browsers, and tokens from signing in, have no scopes and
may do everything that their account may.
"""

READ = "read"
ACCOUNT_WRITE = "account:write"
GRAPH_WRITE = "graph:write"
POSTS_WRITE = "posts:write"
COMMENTS_WRITE = "comments:write"
LIKES_WRITE = "likes:write"
SAVES_WRITE = "saves:write"
STORIES_WRITE = "stories:write"
NOTIFICATIONS_WRITE = "notifications:write"
REALTIME = "realtime"
"""Hold a live connection; commands on it need the scopes of all that they can do, too."""
DIRECT_READ = "direct:read"
DIRECT_WRITE = "direct:write"
MODERATION = "moderation"

ALL = frozenset(
    {
        READ,
        ACCOUNT_WRITE,
        GRAPH_WRITE,
        POSTS_WRITE,
        COMMENTS_WRITE,
        LIKES_WRITE,
        SAVES_WRITE,
        STORIES_WRITE,
        NOTIFICATIONS_WRITE,
        REALTIME,
        DIRECT_READ,
        DIRECT_WRITE,
        MODERATION,
    }
)
