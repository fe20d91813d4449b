"""Which usernames are allowed.

Only a to z, digits, dot and underscore: letters of other scripts are refused rather than folded, because folding
guesses. Names can still look alike (0 and o, rn and m): such names have the same skeleton, and a name with the skeleton
of a reserved name or of a verified account's name is refused. Accounts that have a name from before it was reserved
keep it: names are checked when they are chosen.
"""

import re

from tintype.accounts.errors import UsernameRefused

USERNAME = re.compile(r"[a-z0-9_](?:[a-z0-9_]|\.(?!\.|$)){0,29}")
ROLES = frozenset(
    """
    abuse account accounts admin administrator admins compliance contact copyright dmca feedback ftp help helpdesk
    hostmaster info legal listserv mailerdaemon marketing mod moderation moderator moderators mods news noc noreply
    notifications official operator operators postmaster press privacy root sales security service staff support
    sysadmin system team terms tintype trustandsafety usenet uucp verified webmaster www
    """.split()  # noqa: SIM905 - a paragraph reads better than a column of quotes
)
"""Who speaks for a site: RFC 2142's mailboxes, and what people take for the operators. Names made of them alone
(`tintype.support`, `official_help`) are reserved as well.
"""
RESERVED = ROLES | frozenset(
    """
    about activity api app archive assets auth billing blog confirm create dashboard developer developers direct
    discover docs edit email explore feed following followers healthz home inbox locations login logout mail me media
    messages metrics null p password passkeys payment posts readyz reels reset robots saved search sessions settings
    signin signout signup sitemap static status stories tags undefined verify
    """.split()  # noqa: SIM905 - as above
)
CONFUSABLES = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", ".": None, "_": None})


def skeleton(username: str) -> str:
    """The form that lookalike names share; empty for a name of dots and underscores alone."""
    return username.translate(CONFUSABLES).replace("rn", "m").replace("vv", "w")


RESERVED_SKELETONS = frozenset(skeleton(name) for name in RESERVED)
ROLE_SKELETONS = frozenset(skeleton(name) for name in ROLES)


def fold_username(text: str) -> str:
    """A username in lower case, as it is stored and looked up; empty for one that is not ASCII."""
    return text.strip().lower() if text.isascii() else ""


def check_username(text: str) -> str:
    """The username in its stored form (lower case), or `UsernameRefused`."""
    username = fold_username(text)
    if not USERNAME.fullmatch(username):
        raise UsernameRefused
    if skeleton(username) in RESERVED_SKELETONS or _is_role(username):
        raise UsernameRefused("That username is reserved, or looks like one that is.")
    return username


def _is_role(username: str) -> bool:
    """Whether a name consists of role names alone, such as `mod.team` or `tintype_support`."""
    parts = [skeleton(part) for part in re.split(r"[._]", username) if part]
    return bool(parts) and all(part in ROLE_SKELETONS for part in parts)
