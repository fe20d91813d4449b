"""The voice job that the sandbox runs; apart from the package itself, which loads no decoder."""

from tintype.media.sandbox import load_encodings, load_package
from tintype.media.voices.make_voice import make_voice

load_package("av")
load_encodings()

__all__ = ["make_voice"]
