"""Refuses deeply nested JSON before any parser descends into it.

Parsers recurse: a few kilobytes of brackets exhaust their stack. The check works on the bytes alone, in a time that
grows with their number and no faster.
"""

from itertools import accumulate

from tintype.base.errors import Invalid

MAX_DEPTH = 32
"""The deepest body of the API has six levels, a passkey's answer four."""
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
ALL_BUT_BRACKETS = bytes(each for each in range(256) if each not in STEPS)


class JsonTooDeep(Invalid):
    """That JSON is nested too deeply: 32 levels at most."""

    code = "json_too_deep"


def check_json_depth(text: bytes) -> None:
    """Refuse JSON that is nested more than 32 levels deep."""
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH and not _is_shallow(
        without_strings(text).translate(None, ALL_BUT_BRACKETS)
    ):
        raise JsonTooDeep


def without_strings(text: bytes) -> bytes:
    """JSON without its strings: what is left are brackets, numbers and names."""
    unescaped = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(unescaped.split(b'"')[::2])


def _is_shallow(brackets: bytes) -> bool:
    return all(depth <= MAX_DEPTH for depth in accumulate(map(STEPS.__getitem__, brackets)))
