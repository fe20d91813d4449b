"""Voice messages: a sandbox job that decodes what browsers record and writes what every browser plays.

WebM, Ogg or MP4 with one track of sound, at most five minutes. The output is AAC in MP4, mono, made of the decoded
samples alone: nothing else of the file is carried over. As with videos, the decoding library runs in the job's process.
"""

from tintype.media.voices.errors import VoiceDamaged, VoiceRefused, VoiceTooLong, VoiceUnsupported
from tintype.media.voices.models import LONGEST_S, MAX_BYTES, PEAKS, VOICE, MadeVoice, VoiceRequest
from tintype.media.voices.sniff import detect_container, is_sound_alone

__all__ = [
    "LONGEST_S",
    "MAX_BYTES",
    "PEAKS",
    "VOICE",
    "MadeVoice",
    "VoiceDamaged",
    "VoiceRefused",
    "VoiceRequest",
    "VoiceTooLong",
    "VoiceUnsupported",
    "detect_container",
    "is_sound_alone",
]
