"""The request and result of the voice job, and its limits."""

import msgspec

LONGEST_S = 300
GRACE_S = 0.5
"""Recorders stop a little late."""
MAX_BYTES = 20 * 1024 * 1024
"""Five minutes at 512 kilobits a second, four times what browsers record at."""
PEAKS = 64
VOICE = "voice.m4a"


class VoiceRequest(msgspec.Struct, frozen=True):
    """A recording to convert, into an empty folder."""

    source: str
    folder: str


class MadeVoice(msgspec.Struct, frozen=True):
    """A converted recording."""

    duration_ms: int
    waveform: bytes
    """The peaks of as many equal parts, 0 to 255, relative to the loudest; all 0 for silence."""
    size_bytes: int
