"""Voice messages: what browsers record becomes what every browser plays, and everything else is refused."""

import random
from pathlib import Path

import av
import pytest

from tests.media.videos.sample_videos import make_clip
from tests.media.voices.sample_voices import CODECS, Container, make_voice_file
from tintype.media.errors import MediaRefused
from tintype.media.voices import VOICE, VoiceDamaged, VoiceRequest, VoiceTooLong, VoiceUnsupported
from tintype.media.voices.make_voice import make_voice

SEED = 16
FUZZED = 60


def convert(source: Path, folder: Path) -> Path:
    made = make_voice(VoiceRequest(str(source), str(folder)))
    assert made.size_bytes == (folder / VOICE).stat().st_size
    return folder / VOICE


@pytest.mark.parametrize("container", list(CODECS))
def test_what_browsers_record_becomes_mono_aac(tmp_path: Path, container: Container) -> None:
    source = make_voice_file(tmp_path / "source", container, channels=2)

    made = make_voice(VoiceRequest(str(source), str(tmp_path)))

    assert 1_950 <= made.duration_ms <= 2_100
    assert len(made.waveform) == 64
    assert max(made.waveform) == 255
    assert made.waveform[4] < made.waveform[12] < made.waveform[28]
    assert max(made.waveform[36:]) <= 8
    with av.open(str(tmp_path / VOICE)) as opened:
        assert len(opened.streams) == 1
        track = opened.streams.audio[0]
        assert (track.codec_context.name, track.codec_context.channels) == ("aac", 1)
        assert not opened.metadata.get("title")
    content = (tmp_path / VOICE).read_bytes()
    assert b"garden" not in content
    assert b"48.1372" not in content
    assert b"Lavf" not in content
    assert content.index(b"moov") < content.index(b"mdat")


def test_a_recording_in_fragments_is_read(tmp_path: Path) -> None:
    fragments = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    source = make_voice_file(tmp_path / "source", "mp4", options=fragments)

    assert make_voice(VoiceRequest(str(source), str(tmp_path))).duration_ms >= 1_950


def test_silence_has_a_flat_waveform(tmp_path: Path) -> None:
    source = make_voice_file(tmp_path / "source", silence=True, seconds=0.05)

    made = make_voice(VoiceRequest(str(source), str(tmp_path)))

    assert made.waveform == bytes(64)
    assert made.duration_ms >= 40


def test_five_minutes_are_the_most(tmp_path: Path) -> None:
    source = make_voice_file(tmp_path / "source", "ogg", seconds=302, silence=True)

    with pytest.raises(VoiceTooLong):
        convert(source, tmp_path)


def test_other_sound_and_videos_are_refused(tmp_path: Path) -> None:
    surround = make_voice_file(tmp_path / "surround", "mp4", channels=6)
    flac = make_voice_file(tmp_path / "flac", "ogg", codec="flac")
    video = make_clip(tmp_path / "video.mp4")
    text = tmp_path / "text"
    text.write_bytes(b"hello" * 100)

    for each in (surround, flac, video, text):
        with pytest.raises(VoiceUnsupported):
            convert(each, tmp_path)


@pytest.mark.parametrize("container", list(CODECS))
def test_a_recording_without_its_sound_is_damaged(tmp_path: Path, container: Container) -> None:
    content = make_voice_file(tmp_path / "source", container).read_bytes()
    for number, part in enumerate((content[:40], content[:200])):
        source = tmp_path / f"cut{number}"
        source.write_bytes(part)

        with pytest.raises((VoiceDamaged, VoiceUnsupported)):
            convert(source, tmp_path)


@pytest.mark.parametrize("container", list(CODECS))
def test_spoilt_bytes_are_refused_or_skipped(tmp_path: Path, container: Container) -> None:
    content = make_voice_file(tmp_path / "source", container, seconds=0.5).read_bytes()
    chance = random.Random(SEED)  # noqa: S311 - the same bytes in every run
    source = tmp_path / "spoilt"
    for _ in range(FUZZED):
        spoilt = bytearray(content)
        for _ in range(chance.randint(1, 40)):
            spoilt[chance.randrange(8, len(spoilt))] = chance.randrange(256)
        source.write_bytes(bytes(spoilt[: chance.randint(100, len(spoilt))]))
        try:
            made = make_voice(VoiceRequest(str(source), str(tmp_path)))
        except MediaRefused:
            continue
        assert 0 < made.duration_ms <= 300_500
