"""Which usernames are allowed.

Only a to z, digits, dot and underscore: letters of other scripts are refused rather than folded, because folding
guesses. Names can still look alike (0 and o, rn and m): such names have the same skeleton, and a name with the skeleton
of a reserved name or of a verified account's name is refused.
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
CONFUSABLES = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", ".": None, "_": None})


def skeleton(username: str) -> str:
    """The form that lookalike names share; empty for a name of dots and underscores alone."""
    return username.translate(CONFUSABLES).replace("rn", "m").replace("vv", "w")


RESERVED_SKELETONS = frozenset(skeleton(name) for name in RESERVED)


def fold_username(text: str) -> str:
    """A username in lower case, as it is stored and looked up; empty for one that is not ASCII."""
    return text.strip().lower() if text.isascii() else ""


def check_username(text: str) -> str:
    """The username in its stored form (lower case), or `UsernameRefused`."""
    username = fold_username(text)
    if not USERNAME.fullmatch(username):
        raise UsernameRefused
    if username in RESERVED or skeleton(username) in RESERVED_SKELETONS:
        raise UsernameRefused("That username is reserved, or looks like one that is.")
    return username
