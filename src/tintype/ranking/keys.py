"""The names of everything that ranking keeps in Redis, and for how long; all of it may be lost at any time."""

from tintype.base.ids import AccountId, PostId
from tintype.base.wire import Command

KEEP_VIEWER_S = 90 * 86_400
KEEP_POST_S = 10 * 86_400
KEEP_AUTHOR_S = 90 * 86_400
KEEP_SEEN_S = 30 * 86_400
KEEP_SERVED_S = 3_600
MOST_ACTS = 128
"""Acts of a viewer that are remembered one by one, so that telling them again changes nothing."""
MOST_HOT = 2_000
MOST_SERVED_PAGES = 12


class Keys:
    """The names in one installation."""

    def __init__(self, namespace: str) -> None:
        self._prefix = f"{namespace}:ranking:"
        self.hot = f"{self._prefix}hot"
        """Popular posts."""
        self.hot_filled = f"{self._prefix}hot-filled"
        """Stands while the popular posts need not be looked for on the shards."""
        self.known_starts = [f"{self._prefix}{name}:" for name in ("affinity", "interest", "seen")]
        """How the names begin of what must be known of a viewer."""

    def command(self, viewer: AccountId) -> Command:
        """How to ask for what must be known of a viewer."""
        return ("MGET", *[f"{start}{viewer}" for start in self.known_starts])

    def acts(self, viewer: AccountId) -> str:
        """What the viewer did lately."""
        return f"{self._prefix}acts:{viewer}"

    def affinity(self, viewer: AccountId) -> str:
        """Whom the viewer is close to."""
        return f"{self._prefix}affinity:{viewer}"

    def interest(self, viewer: AccountId) -> str:
        """Which hashtags the viewer cares for."""
        return f"{self._prefix}interest:{viewer}"

    def seen(self, viewer: AccountId) -> str:
        """Which posts the viewer has seen."""
        return f"{self._prefix}seen:{viewer}"

    def served(self, viewer: AccountId) -> str:
        """What the viewer's last pages were made of; only of viewers whose examples are kept."""
        return f"{self._prefix}served:{viewer}"

    def post(self, post_id: PostId | int) -> str:
        """A post's row."""
        return f"{self._prefix}post:{post_id}"

    def cadence(self, author: AccountId | int) -> str:
        """How often an author posts."""
        return f"{self._prefix}cadence:{author}"

    def explore(self, viewer: AccountId | None, token: int) -> str:
        """The order of somebody's explore pages."""
        return f"{self._prefix}explore:{viewer or 0}:{token}"

    def of_viewer(self, viewer: AccountId) -> list[str]:
        """Everything that is kept of one viewer."""
        return [
            self.acts(viewer),
            self.affinity(viewer),
            self.interest(viewer),
            self.seen(viewer),
            self.served(viewer),
            self.cadence(viewer),
        ]
