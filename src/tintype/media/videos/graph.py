"""Pictures on their way through the filters: scaled, turned upright, and in the colours of a plain screen."""

from collections.abc import Iterator
from fractions import Fraction

from av.error import BlockingIOError as NothingYet
from av.error import EOFError as NothingMore
from av.filter import Graph
from av.video.frame import VideoFrame

from tintype.media.videos.boxes import TURNS
from tintype.media.videos.errors import VideoUnsupported
from tintype.media.videos.measure import is_hdr
from tintype.media.videos.opening import Opened

UNSPECIFIED = 2
HD_HEIGHT = 720


def fit(size: tuple[int, int], shorter: int, longer: int) -> tuple[int, int]:
    """The size scaled down to these sides, whichever way it lies, and even: colour is stored for two pixels."""
    factor = min(1.0, shorter / min(size), longer / max(size))
    width, height = (max(2, 2 * round(side * factor / 2)) for side in size)
    return width, height


class PictureGraph:
    """Takes pictures of one size and kind, gives pictures of the size wanted, upright."""

    def __init__(
        self,
        opened: Opened,
        first: VideoFrame,
        size: tuple[int, int],
        *,
        kind: str,
        rate: Fraction | None = None,
        intent: str = "perceptual",
    ) -> None:
        self._shape = _shape(first)
        turn = TURNS[opened.layout.matrix]
        width, height = size[::-1] if "transpose" in turn else size
        steps = ["bwdif=deint=interlaced"] if first.interlaced_frame else []
        steps += [f"fps={rate}"] if rate else []
        steps.append(f"scale={width}:{height}:flags=bicubic")
        steps.append(_colours(first, intent))
        steps += [turn] if turn else []
        steps += ["setsar=1", f"format={kind}"]
        self._graph = _chain(_source(opened, first), steps)

    def push(self, frame: VideoFrame | None) -> Iterator[VideoFrame]:
        """Put in one picture, or the end; take out what is ready."""
        if frame is not None and _shape(frame) != self._shape:
            raise VideoUnsupported(changes_to=f"{frame.width}x{frame.height}")
        self._graph.push(frame)
        while True:
            try:
                ready = self._graph.pull()
            except (NothingYet, NothingMore):
                return
            assert isinstance(ready, VideoFrame)  # noqa: S101 - the sink holds pictures
            yield ready


def _shape(frame: VideoFrame) -> tuple[int, int, str]:
    return frame.width, frame.height, frame.format.name


def _source(opened: Opened, frame: VideoFrame) -> str:
    unit = frame.time_base or opened.video.time_base
    return (
        f"video_size={frame.width}x{frame.height}:pix_fmt={frame.format.name}:time_base={unit}"
        f":pixel_aspect=1/1:colorspace={int(frame.colorspace)}:range={int(frame.color_range)}"
    )


def _colours(frame: VideoFrame, intent: str) -> str:
    """To the standard of HD; light beyond it is bent into its range, not cut off."""
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
