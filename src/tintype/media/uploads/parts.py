"""Splits the stream of a resumable upload into parts that are stored one by one."""

import time
from collections.abc import AsyncIterator

PART_BYTES = 4 * 1024 * 1024
"""What a killed process loses of an upload at most, and what one upload holds in memory."""
PART_S = 5.0
"""On a slow connection a part is stored after this time, however small."""


async def split_into_parts(
    chunks: AsyncIterator[bytes], *, part_bytes: int | None = None
) -> AsyncIterator[bytes]:
    """Parts of a few megabytes or a few seconds; when the connection breaks, what has arrived is the last part."""
    limit = part_bytes or PART_BYTES
    buffered = bytearray()
    since = time.monotonic()
    try:
        async for chunk in chunks:
            buffered += chunk
            if len(buffered) >= limit or (buffered and time.monotonic() - since > PART_S):
                yield bytes(buffered)
                buffered.clear()
                since = time.monotonic()
    except ConnectionError:
        pass  # the sender has gone and hears no error; its bytes still count
    if buffered:
        yield bytes(buffered)
