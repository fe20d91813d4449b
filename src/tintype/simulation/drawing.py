"""The report as a picture: an SVG of bars, written by hand, that needs nothing but a browser."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from tintype.simulation.models import Outcome, Report, name_of

WIDTH, PANEL, GAP, LABELS = 760, 34, 46, 120
"""Width of the picture, height of a row of bars, room above a panel, room for the names of thresholds."""
BAR = 420
"""The longest bar; the numbers stand to its right."""
DARK, LIGHT, INK, PALE = "#2f5d8a", "#a9c4de", "#1d2733", "#5d6b7a"


@dataclass(frozen=True)
class Panel:
    """One question: a dark bar for its main answer, a light one behind it for the worse case."""

    title: str
    main: Callable[[Outcome], float]
    worse: Callable[[Outcome], float]
    tell: Callable[[Outcome], str]


PANELS = (
    Panel(
        "Reading the feed: p50 (dark) and p99, ms",
        lambda one: one.read_ms.p50,
        lambda one: one.read_ms.p99,
        lambda one: f"{one.read_ms.p50:.1f} / {one.read_ms.p99:.1f}",
    ),
    Panel(
        "Published until a follower sees it: p50 (dark) and p99, ms",
        lambda one: one.fresh_ms.p50,
        lambda one: one.fresh_ms.p99,
        lambda one: f"{one.fresh_ms.p50:.0f} / {one.fresh_ms.p99:.0f}",
    ),
    Panel(
        "Timeline entries written per post",
        lambda one: one.amplification,
        lambda one: one.amplification,
        lambda one: f"{one.amplification:.1f}",
    ),
    Panel(
        "Processor time per deed (reads and posts), ms",
        lambda one: one.cpu_ms,
        lambda one: one.cpu_ms,
        lambda one: f"{one.cpu_ms:.2f}",
    ),
)


def draw(report: Report) -> str:
    """The picture as the text of an SVG file."""
    rows = len(report.outcomes)
    height = 60 + len(PANELS) * (GAP + rows * PANEL)
    parts = [_text(16, 30, _title(report), size=15)]
    for place, panel in enumerate(PANELS):
        parts += _panel(panel, report.outcomes, 50 + place * (GAP + rows * PANEL))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(_title(report))}">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def sketch(report: Report, width: int = 40) -> list[str]:
    """The same bars for a terminal, a line each; only the main answers."""
    lines: list[str] = []
    for panel in PANELS:
        most = max((panel.main(one) for one in report.outcomes), default=0.0)
        lines += ["", panel.title.replace(" (dark)", "")]
        lines += [
            f"  {name_of(one.threshold):<16} {'█' * _length(panel.main(one), most, width):<{width}} {panel.tell(one)}"
            for one in report.outcomes
        ]
    return lines


def _panel(panel: Panel, outcomes: Sequence[Outcome], top: int) -> list[str]:
    most = max((panel.worse(one) for one in outcomes), default=0.0)
    parts = [_text(16, top + 28, panel.title, size=13)]
    for row, one in enumerate(outcomes):
        y = top + GAP - 8 + row * PANEL
        worse, main = (_length(ask(one), most, BAR) for ask in (panel.worse, panel.main))
        parts += [
            _text(16, y + 17, name_of(one.threshold), colour=PALE),
            f'<rect x="{LABELS}" y="{y}" width="{worse}" height="24" rx="3" fill="{LIGHT}"/>',
            f'<rect x="{LABELS}" y="{y}" width="{main}" height="24" rx="3" fill="{DARK}"/>',
            _text(LABELS + worse + 8, y + 17, panel.tell(one)),
        ]
    return parts


def _length(value: float, most: float, whole: int) -> int:
    return max(1, round(value / most * whole)) if most > 0 and value > 0 else 0


def _text(x: int, y: int, text: str, *, size: int = 12, colour: str = INK) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}">{escape(text)}</text>'


def _title(report: Report) -> str:
    choices = report.choices
    return (
        f"{choices.people:,} people, {choices.hours:g} h at {choices.speed:,.0f} times the speed of life, "
        f"seed {choices.seed}; the most followed has {report.most_followers:,} followers"
    )
