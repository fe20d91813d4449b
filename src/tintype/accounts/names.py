"""Which usernames there can be.

Only a to z, digits, dot and underscore: letters of other scripts are refused and not folded, because folding guesses.
What is left can still be mistaken for something else (0 and o, rn and m). Two names that look alike have the same
skeleton; whoever has the skeleton of a reserved name or of a verified account's name is refused.
"""

import re

from tintype.accounts.errors import UsernameRefused

USERNAME = re.compile(r"[a-z0-9_](?:[a-z0-9_]|\.(?!\.|$)){0,29}")
RESERVED = frozenset(
    """
    about account accounts activity admin administrator api app archive assets auth billing blog confirm contact create
    dashboard developer developers direct discover docs edit email explore feed following followers healthz help home
    inbox legal locations login logout mail me media messages metrics moderation moderator notifications null official
    operator p password passkeys payment postmaster posts press privacy readyz reels reset robots root saved search
    security service sessions settings signin signout signup sitemap staff static status stories support system tags
    terms tintype undefined verified verify webmaster www
    """.split()  # noqa: SIM905 - a paragraph reads better than a column of quotes
)
LOOKS = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", ".": None, "_": None})


def skeleton(username: str) -> str:
    """What a name looks like at a glance; empty for a name of dots and underscores alone."""
    return username.translate(LOOKS).replace("rn", "m").replace("vv", "w")


RESERVED_LOOKS = frozenset(skeleton(name) for name in RESERVED)


def fold_username(text: str) -> str:
    """A username as it is stored and looked up."""
    return text.strip().lower() if text.isascii() else ""


def check_username(text: str) -> str:
    """The username in its one stored form (lower case), or a refusal."""
    username = fold_username(text)
    if not USERNAME.fullmatch(username):
        raise UsernameRefused
    if username in RESERVED or skeleton(username) in RESERVED_LOOKS:
        raise UsernameRefused("That username is reserved, or looks like one that is.")
    return username
