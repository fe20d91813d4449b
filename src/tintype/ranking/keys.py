"""The Redis keys of ranking and their lifetimes; everything under them may be lost at any time."""

from tintype.base.ids import AccountId, PostId
from tintype.redis.client import Command

VIEWER_TTL_S = 90 * 86_400
POST_TTL_S = 10 * 86_400
AUTHOR_TTL_S = 90 * 86_400
SEEN_TTL_S = 30 * 86_400
SERVED_TTL_S = 3_600
CHANGED_TTL_S = 86_400
"""Longer than an event is tried again."""
MAX_INTERACTIONS = 128
"""Interactions of a viewer that are remembered one by one, so that recording one again changes nothing."""
MAX_POPULAR = 2_000
MAX_SERVED_PAGES = 12


class Keys:
    """The keys of one installation."""

    def __init__(self, namespace: str) -> None:
        self._prefix = f"{namespace}:ranking:"
        self.hot = f"{self._prefix}hot"
        """The sorted set of popular posts."""
        self.hot_filled = f"{self._prefix}hot-filled"
        """Exists while the popular posts need not be read from the shards."""
        self.viewer_feature_prefixes = [f"{self._prefix}{name}:" for name in ("affinity", "interest", "seen")]
        """The prefixes of the keys that a viewer's features are made of."""

    def viewer_features_command(self, viewer: AccountId) -> Command:
        """The command whose reply `ViewerFeatures.parse` takes."""
        return ("MGET", *[f"{prefix}{viewer}" for prefix in self.viewer_feature_prefixes])

    def acts(self, viewer: AccountId) -> str:
        """The viewer's latest interactions."""
        return f"{self._prefix}acts:{viewer}"

    def affinity(self, viewer: AccountId) -> str:
        """Whom the viewer is close to."""
        return f"{self._prefix}affinity:{viewer}"

    def interest(self, viewer: AccountId) -> str:
        """Which hashtags interest the viewer."""
        return f"{self._prefix}interest:{viewer}"

    def seen(self, viewer: AccountId) -> str:
        """Which posts the viewer has seen."""
        return f"{self._prefix}seen:{viewer}"

    def served(self, viewer: AccountId) -> str:
        """The features of the viewer's last pages; only of viewers who are sampled for training examples."""
        return f"{self._prefix}served:{viewer}"

    def post(self, post_id: PostId | int) -> str:
        """A post's features."""
        return f"{self._prefix}post:{post_id}"

    def changed(self, post_id: PostId) -> str:
        """Set for a while after a post was edited or removed."""
        return f"{self._prefix}changed:{post_id}"

    def cadence(self, author: AccountId | int) -> str:
        """How often an author posts."""
        return f"{self._prefix}cadence:{author}"

    def explore(self, viewer: AccountId | None, token: int) -> str:
        """The order of a viewer's explore pages."""
        return f"{self._prefix}explore:{viewer or 0}:{token}"

    def all_of_viewer(self, viewer: AccountId) -> list[str]:
        """Every key that belongs to one viewer."""
        return [
            self.acts(viewer),
            self.affinity(viewer),
            self.interest(viewer),
            self.seen(viewer),
            self.served(viewer),
            self.cadence(viewer),
        ]
