"""What comments say that notifications are about."""

from collections.abc import Mapping

from tintype.base.ids import AccountId, CommentId
from tintype.comments import Comments
from tintype.notifications.models import LatestActivity

ABOUT_COMMENTS = frozenset({"comment", "reply", "mention", "comment_like"})
MAX_LENGTH = 160


class CommentQuotes:
    """Loads, for a page of notifications, the text of the comments they are about."""

    def __init__(self, comments: Comments) -> None:
        self._comments = comments

    async def find(self, account_id: AccountId, latest: Mapping[int, LatestActivity]) -> dict[int, str]:
        """By notification id, the comment of its latest activity if the list's owner may see it now, shortened."""
        about = {
            key: CommentId(each.object_id)
            for key, each in latest.items()
            if each.kind in ABOUT_COMMENTS and each.object_id
        }
        found = await self._comments.find_many(about.values(), viewer=account_id) if about else {}
        return {key: shorten(found[each].comment.text) for key, each in about.items() if each in found}


def shorten(text: str) -> str:
    """The beginning of a text in one line, with an ellipsis where something is left out."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_LENGTH else line[: MAX_LENGTH - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
