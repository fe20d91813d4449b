"""Visibility rules: who may see an account, its content, a post, a comment, a story, a media file.

These pure functions over plain facts are the only definition. Code that shows anything to a viewer decides with them.
A query that must filter by itself, to fill a page or to save a round trip, names its rule in a comment; and
`tests/graph/test_visibility_rules.py` runs query and rule against each other over all combinations of facts.

What may not be seen is answered like what does not exist.
"""


def may_see_account(*, is_self: bool, is_active: bool, has_block: bool) -> bool:
    """Whether a viewer may learn that an account exists: it is active, and neither of the two blocks the other."""
    return is_self or (is_active and not has_block)


def may_see_content(
    *, is_self: bool, is_active: bool, has_block: bool, is_private: bool, follows: bool
) -> bool:
    """Whether a viewer may see an account's posts, stories, comments and lists, and not only its name."""
    is_visible = may_see_account(is_self=is_self, is_active=is_active, has_block=has_block)
    return is_visible and (is_self or follows or not is_private)


def is_public(*, is_active: bool, is_private: bool) -> bool:
    """Whether an account's content may be seen by everybody, signed in or not (blocked people excepted)."""
    return may_see_content(
        is_self=False, is_active=is_active, has_block=False, is_private=is_private, follows=False
    )


def may_see_post(*, sees_author: bool, is_author: bool, is_shown: bool) -> bool:
    """Whether a viewer who may see the author's content may see a post: archived and hidden ones only its author."""
    return sees_author and (is_shown or is_author)


def is_listed_post(*, sees_author: bool, is_shown: bool) -> bool:
    """Whether a viewer finds a post in feeds and lists: archived and hidden ones nobody does, not even the author."""
    return may_see_post(sees_author=sees_author, is_author=False, is_shown=is_shown)


def is_public_post(*, is_active: bool, is_private: bool, is_shown: bool) -> bool:
    """Whether everybody may see a post: of a public account, neither archived nor hidden nor deleted."""
    sees_author = is_public(is_active=is_active, is_private=is_private)
    return is_listed_post(sees_author=sees_author, is_shown=is_shown)


def may_see_comment(*, is_published: bool, is_held_back: bool, is_author: bool, is_post_author: bool) -> bool:
    """Whether a viewer may see a comment under a post they may see.

    A comment that is held back, by a filter or until the post's author approves, is seen by the two authors alone.
    """
    return is_published or (is_held_back and (is_author or is_post_author))


def may_see_story(
    *, is_author: bool, is_hidden: bool, is_playable: bool, is_for_close_friends: bool, is_close_friend: bool
) -> bool:
    """Whether a viewer who may see the author's content may see a live story of theirs.

    The author sees all of them; others see what no moderator has hidden, whose media can be played, and of stories for
    close friends only those of authors who count them among theirs.
    """
    is_in_audience = is_close_friend or not is_for_close_friends
    return is_author or (not is_hidden and is_playable and is_in_audience)


def needs_signature(
    *, is_avatar: bool, is_private: bool, is_for_close_friends: bool, is_unposted: bool
) -> bool:
    """Whether a media file is opened only by a signed link, which is given to those who may see the content.

    An avatar is as public as the username beside it, also for a private account.
    """
    return not is_avatar and (is_private or is_for_close_friends or is_unposted)


def may_open_file(
    *,
    is_available: bool,
    is_active: bool,
    is_kept: bool,
    is_withheld: bool,
    needs_signature: bool,
    has_signature: bool,
    is_owner: bool,
    is_moderator: bool,
) -> bool:
    """Whether a request may open a media file.

    Nobody opens files of accounts that are not active, or of what was deleted or has ended; only a link made for
    moderators does, as evidence, while the file exists. Archived and hidden files open for their owner alone, all
    others for everybody, by a signed link where one is needed.
    """
    if is_moderator:
        return is_available
    if not (is_available and is_active and is_kept):
        return False
    return is_owner or (not is_withheld and (has_signature or not needs_signature))
