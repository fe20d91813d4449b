"""Recordings made on the spot, as browsers make them: a tone that grows louder, then silence."""

from pathlib import Path
from typing import Any, Literal

import av
import numpy as np
from av.audio.frame import AudioFrame

RATE = 48_000
TONE_HZ = 440
CODECS = {"webm": "libopus", "ogg": "libopus", "mp4": "aac"}
Container = Literal["webm", "ogg", "mp4"]
METADATA = {"title": "Our secret garden", "location": "+48.1372+011.5756/"}


def make_voice_file(
    file: Path,
    container: Container = "webm",
    *,
    seconds: float = 2.0,
    silence: bool = False,
    codec: str | None = None,
    channels: int = 1,
    options: dict[str, str] | None = None,
) -> Path:
    """Write a recording: the tone fills the first half, from silence to its loudest, and the second half is silent."""
    layout = {1: "mono", 2: "stereo", 6: "5.1"}[channels]
    with av.open(str(file), "w", format=container, options=options or {}) as out:
        out.metadata.update(METADATA)
        track: Any = out.add_stream(codec or CODECS[container], rate=RATE)
        track.layout = layout
        track.open()
        step = track.frame_size or 1024
        count = int(seconds * RATE)
        time = np.arange(count) / RATE
        loud = np.where(time < seconds / 2, time / (seconds / 2), 0.0) * (0.0 if silence else 0.5)
        sound = (loud * np.sin(2 * np.pi * TONE_HZ * time)).astype(np.float32)
        for start in range(0, count, step):
            part = np.tile(sound[start : start + step], (channels, 1))
            frame = AudioFrame.from_ndarray(np.ascontiguousarray(part), format="fltp", layout=layout)
            frame.sample_rate, frame.pts = RATE, start
            for ready in av.AudioResampler(track.format.name, layout, RATE).resample(frame):
                out.mux(track.encode(ready))
        out.mux(track.encode(None))
    return file
