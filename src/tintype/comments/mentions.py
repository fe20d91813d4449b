"""The usernames a text mentions."""

import re

MOST_MENTIONS = 20
_MENTION = re.compile(r"(?<![\w@.])[@\uff20]([A-Za-z0-9_](?:[A-Za-z0-9_]|\.(?=[A-Za-z0-9_])){0,29})(?!\w)")


def mentions_in(text: str) -> list[str]:
    """Each name once, in its stored form, as many as one text may mention."""
    names = [found.group(1).lower() for found in _MENTION.finditer(text)]
    return list(dict.fromkeys(names))[:MOST_MENTIONS]
