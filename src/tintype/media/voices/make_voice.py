"""Converts a recording to what every browser plays, AAC in MP4, and draws its waveform.

Durations and timestamps in the file are ignored, since recorders write none or wrong ones: what counts is the samples.
"""

from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.error import FFmpegError

from tintype.media.videos.mux import BIT_EXACT
from tintype.media.voices.errors import VoiceDamaged, VoiceTooLong
from tintype.media.voices.models import GRACE_S, LONGEST_S, PEAKS, VOICE, MadeVoice, VoiceRequest
from tintype.media.voices.open_voice import open_voice

RATE = 48_000
BIT_RATE = 64_000
BLOCK = RATE // 100
"""Samples of a hundredth of a second: the waveform is drawn from their peaks."""
SILENCE = 0.001
"""A peak below this, of full scale, is noise: a recording without a louder one has a flat waveform."""
BAD_SHARE, BAD_ALLOWANCE = 0.05, 3
"""A few packets may be unreadable, as at the end of an interrupted recording; more means a damaged file."""


def make_voice(request: VoiceRequest) -> MadeVoice:
    """Write the file, in mono and as loud as it was recorded; refused when it is too long or holds no sound."""
    file = Path(request.folder) / VOICE
    meter = _Meter()
    options = {"movflags": "+faststart", **BIT_EXACT}
    with open_voice(request.source) as opened, av.open(str(file), "w", format="mp4", options=options) as out:
        _transcode(opened, out, meter)
    return MadeVoice(max(1, round(1000 * meter.samples / RATE)), meter.draw(), file.stat().st_size)


def _transcode(opened: tuple[InputContainer, AudioStream], out: OutputContainer, meter: "_Meter") -> None:
    track = out.add_stream("aac", rate=RATE)
    track.layout = "mono"  # pyright: ignore[reportAttributeAccessIssue] - the stub leaves the setter out
    track.bit_rate = BIT_RATE
    resampler = AudioResampler("fltp", "mono", RATE)
    for frame in _decode(*opened):
        frame.pts = None
        for ready in resampler.resample(frame):
            meter.add(ready)
            out.mux(track.encode(ready))
    for ready in resampler.resample(None):
        meter.add(ready)
        out.mux(track.encode(ready))
    if not meter.samples:
        raise VoiceDamaged(samples=0)
    out.mux(track.encode(None))


def _decode(container: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    """The frames of the track, without those of a few unreadable packets."""
    bad = 0
    for packets, packet in enumerate(container.demux(stream), 1):
        try:
            yield from packet.decode()
        except FFmpegError as error:
            bad += 1
            if bad > BAD_ALLOWANCE + BAD_SHARE * packets:
                raise VoiceDamaged(bad_packets=bad, packets=packets) from error


class _Meter:
    """Counts samples, and keeps the peak of each block of them."""

    def __init__(self) -> None:
        self.samples = 0
        self._peaks: list[np.ndarray] = []
        self._rest = np.zeros(0, np.float32)

    def add(self, frame: AudioFrame) -> None:
        """Include the samples of a frame; refused as soon as there are too many."""
        frame.pts = self.samples
        self.samples += frame.samples
        if self.samples > (LONGEST_S + GRACE_S) * RATE:
            raise VoiceTooLong(seconds=self.samples / RATE)
        waiting = np.concatenate([self._rest, np.abs(np.nan_to_num(frame.to_ndarray()[0]))])
        whole = len(waiting) // BLOCK * BLOCK
        self._peaks.append(waiting[:whole].reshape(-1, BLOCK).max(axis=1))
        self._rest = waiting[whole:]

    def draw(self) -> bytes:
        """The waveform: the peaks of equal parts of the recording, relative to the loudest."""
        last = [self._rest.max(keepdims=True)] if len(self._rest) else []
        peaks = np.concatenate([*self._peaks, *last])
        at = np.arange(PEAKS) * len(peaks) // PEAKS
        parts = np.array(
            [
                peaks[start : max(end, start + 1)].max()
                for start, end in zip(at, [*at[1:], len(peaks)], strict=True)
            ]
        )
        loudest = float(parts.max())
        if loudest < SILENCE:
            return bytes(PEAKS)
        return np.round(255 * np.minimum(parts / loudest, 1.0)).astype(np.uint8).tobytes()
