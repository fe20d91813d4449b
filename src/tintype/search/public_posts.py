"""Whether a post may be in the index at all."""

import asyncpg

from tintype.graph import visibility_rules


def is_public_post(row: asyncpg.Record) -> bool:
    """Whether everybody may see a post, by the facts in its row."""
    return visibility_rules.is_public_post(
        is_active=row["is_active"], is_private=row["is_private"], is_shown=row["is_shown"]
    )
