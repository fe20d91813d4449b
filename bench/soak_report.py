"""What `bench soak` shows: a table of samples, and a picture of memory and response times over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bench.tables import format_table

WIDTH, HEIGHT, LEFT, TOP, GAP = 760, 180, 64, 56, 64
"""Of the picture: its width, the height of a chart, space left of and above the first, space between two."""
LEGEND = 150
INK, PALE = "#1d2733", "#c9d2dc"
COLOURS = ("#2f5d8a", "#2e7d4f", "#b3261e", "#8a6d1f", "#6b4a8a", "#3f8a8a", "#5d6b7a")
BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Sample:
    """One stretch of time: requests, errors, response times, and memory at its end."""

    at_s: float
    requests: int
    errors: int
    p50_ms: float
    p99_ms: float
    memory_mb: dict[str, float]

    @property
    def total_mb(self) -> float:
        """Memory of all processes."""
        return sum(self.memory_mb.values())


def parts_of(samples: Sequence[Sample]) -> list[str]:
    """Names of all processes that were seen."""
    return list(dict.fromkeys(name for each in samples for name in each.memory_mb))


def render_table(samples: Sequence[Sample]) -> str:
    """One row per sample; memory as PSS in MB."""
    parts = parts_of(samples)
    rows = [
        [
            _minutes(each.at_s),
            str(each.requests),
            str(each.errors),
            f"{each.p50_ms:.1f}",
            f"{each.p99_ms:.1f}",
            f"{each.total_mb:.0f}",
            *(f"{each.memory_mb.get(part, 0):.0f}" for part in parts),
        ]
        for each in samples
    ]
    return format_table(["time", "requests", "errors", "p50 ms", "p99 ms", "MB", *parts], rows)


def render_text(samples: Sequence[Sample]) -> str:
    """The picture for a terminal: one line per process, from zero to the highest value of the line."""
    lines = {"all": [each.total_mb for each in samples]}
    lines |= {part: [each.memory_mb.get(part, 0.0) for each in samples] for part in parts_of(samples)}
    width = max(map(len, lines))
    return "\n".join(
        f"{name:<{width}}  {_bars(values)}  {values[-1]:.0f} MB, at most {max(values):.0f}"
        for name, values in lines.items()
    )


def render_svg(samples: Sequence[Sample], title: str) -> str:
    """Memory by process and response times over time, as the text of an SVG file."""
    memory = {part: [each.memory_mb.get(part, 0.0) for each in samples] for part in parts_of(samples)}
    memory = {"all": [each.total_mb for each in samples], **memory}
    times = {"p99": [each.p99_ms for each in samples], "p50": [each.p50_ms for each in samples]}
    height = TOP + 2 * (HEIGHT + GAP)
    parts = [
        _text(16, 24, title, size=15),
        *_chart("Memory (PSS), MB", memory, samples, TOP),
        *_chart("Response times, ms", times, samples, TOP + HEIGHT + GAP),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(title)}">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _chart(title: str, lines: dict[str, list[float]], samples: Sequence[Sample], top: int) -> list[str]:
    """A chart with one line per name; both axes begin at zero."""
    most = max((value for values in lines.values() for value in values), default=0.0) or 1.0
    end_s = samples[-1].at_s or 1.0
    right, bottom = WIDTH - LEGEND, top + HEIGHT
    parts = [
        _text(16, top - 8, title, size=13),
        f'<path d="M{LEFT} {top}V{bottom}H{right}" fill="none" stroke="{PALE}"/>',
        _text(16, top + 12, f"{most:,.0f}"),
        _text(16, bottom, "0"),
        _text(right - 40, bottom + 18, _minutes(end_s)),
    ]
    for number, (name, values) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(
            f"{LEFT + each.at_s / end_s * (right - LEFT):.1f},{bottom - value / most * HEIGHT:.1f}"
            for each, value in zip(samples, values, strict=True)
        )
        parts += [
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
            _text(right + 10, top + 14 + number * 18, f"{name} {values[-1]:,.0f}", colour=colour),
        ]
    return parts


def _bars(values: Sequence[float]) -> str:
    most = max(values) or 1.0
    return "".join(BARS[min(int(value / most * len(BARS)), len(BARS) - 1)] for value in values)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _text(x: int, y: int, text: str, *, size: int = 12, colour: str = INK) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}">{escape(text)}</text>'
