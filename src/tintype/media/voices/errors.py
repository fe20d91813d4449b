"""Errors of voice messages, as people read them."""

from tintype.media.errors import MediaRefused


class VoiceRefused(MediaRefused):
    """That recording cannot be used."""

    code = "voice_refused"


class VoiceUnsupported(VoiceRefused):
    """That kind of recording is not supported. Send WebM or Ogg with Opus, or MP4 with AAC, with one track of sound."""

    code = "voice_unsupported"


class VoiceDamaged(VoiceRefused):
    """That recording is damaged or empty. Record it again."""

    code = "voice_damaged"


class VoiceTooLong(VoiceRefused):
    """Voice messages can be at most five minutes long."""

    code = "voice_too_long"
