"""The filter graph of a video: frames are scaled, rotated upright, and converted to SDR colours (BT.709)."""

from collections.abc import Iterator
from fractions import Fraction

from av.error import BlockingIOError as NotReady
from av.error import EOFError as EndOfStream
from av.filter import Graph
from av.video.frame import VideoFrame

from tintype.media.videos.errors import VideoUnsupported
from tintype.media.videos.mp4_boxes import ROTATION_FILTERS
from tintype.media.videos.open_video import SourceVideo
from tintype.media.videos.probe import is_hdr

UNSPECIFIED = 2
HD_HEIGHT = 720


def fit(size: tuple[int, int], shorter: int, longer: int) -> tuple[int, int]:
    """The size scaled down to these sides in either orientation, and even: chroma is stored for two pixels."""
    factor = min(1.0, shorter / min(size), longer / max(size))
    width, height = (max(2, 2 * round(side * factor / 2)) for side in size)
    return width, height


class FilterGraph:
    """Accepts frames of one size and pixel format, and returns them upright in the requested size."""

    def __init__(
        self,
        opened: SourceVideo,
        first: VideoFrame,
        size: tuple[int, int],
        *,
        kind: str,
        rate: Fraction | None = None,
        intent: str = "perceptual",
    ) -> None:
        self._shape = _shape(first)
        rotation = ROTATION_FILTERS[opened.layout.matrix]
        width, height = size[::-1] if "transpose" in rotation else size
        steps = ["bwdif=deint=interlaced"] if first.interlaced_frame else []
        steps += [f"fps={rate}"] if rate else []
        steps.append(f"scale={width}:{height}:flags=bicubic")
        steps.append(_colours(first, intent))
        steps += [rotation] if rotation else []
        steps += ["setsar=1", f"format={kind}"]
        self._graph = _chain(_source(opened, first), steps)

    def push(self, frame: VideoFrame | None) -> Iterator[VideoFrame]:
        """Push a frame, or None for the end; yields the frames that are ready."""
        if frame is not None and _shape(frame) != self._shape:
            raise VideoUnsupported(changes_to=f"{frame.width}x{frame.height}")
        self._graph.push(frame)
        while True:
            try:
                ready = self._graph.pull()
            except (NotReady, EndOfStream):
                return
            assert isinstance(ready, VideoFrame)  # noqa: S101 - the sink holds frames
            yield ready


def _shape(frame: VideoFrame) -> tuple[int, int, str]:
    return frame.width, frame.height, frame.format.name


def _source(opened: SourceVideo, frame: VideoFrame) -> str:
    unit = frame.time_base or opened.video.time_base
    return (
        f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}:time_base={unit}"
        f":pixel_aspect=1/1:colorspace={int(frame.colorspace)}:range={int(frame.color_range)}"
    )


def _colours(frame: VideoFrame, intent: str) -> str:
    """The step that converts to BT.709; HDR is tone-mapped into its range, not clipped."""
    step = "scale=out_color_matrix=bt709:out_range=tv"
    if is_hdr(frame):
        return f"{step}:out_primaries=bt709:out_transfer=bt709:intent={intent}"
    if int(frame.colorspace) == UNSPECIFIED:
        step += f":in_color_matrix={'bt709' if min(frame.width, frame.height) >= HD_HEIGHT else 'bt601'}"
    return step


def _chain(source: str, steps: list[str]) -> Graph:
    graph = Graph()
    last = graph.add("buffer", source)
    for step in ",".join(steps).split(","):
        name, _, arguments = step.partition("=")
        following = graph.add(name, arguments or None)
        last.link_to(following)
        last = following
    last.link_to(graph.add("buffersink"))
    graph.configure()
    return graph
