"""What a token may do: a route names its scope, and a token without it is refused.

So is every such token on a route that names none. Sessions of a browser, and tokens made by signing in, may do
everything their account may; tokens made for programs carry the scopes their owner ticked.
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
        MODERATION,
    }
)
