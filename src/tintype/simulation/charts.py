"""Bar charts of the report: SVG written by hand, and text for the terminal.

The recommended threshold is green. An asterisk after a name means that the machine fell behind schedule there, so its
times are mostly queueing; a dashed line marks the feed's target, where the scale reaches that far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from tintype.simulation.models import SimulationReport, ThresholdOutcome, name_of
from tintype.simulation.recommendation import MAX_READ_P99_MS, MAX_VISIBLE_P99_MS, fell_behind, recommend

WIDTH, PANEL, GAP, LABELS = 760, 34, 46, 120
"""Width of the chart, height of a row of bars, space above a panel, width of the labels."""
BAR = 420
"""Length of the longest bar; the numbers are to its right."""
DARK, LIGHT, INK, PALE = "#2f5d8a", "#a9c4de", "#1d2733", "#5d6b7a"
BEST_DARK, BEST_LIGHT, TARGET = "#2e7d4f", "#a8d5ba", "#b3261e"
LINE, LETTERS = 18, 108
"""Line height of the recommendation, and how many characters fit on a line."""


@dataclass(frozen=True)
class Panel:
    """One measurement: a dark bar for its main value, a light one behind it for the worse case."""

    title: str
    main: Callable[[ThresholdOutcome], float]
    worse: Callable[[ThresholdOutcome], float]
    format: Callable[[ThresholdOutcome], str]
    target: float | None = None
    """Upper limit for the worse case."""


PANELS = (
    Panel(
        "Reading the feed: p50 (dark) and p99, ms; target: 500",
        lambda one: one.read_ms.p50,
        lambda one: one.read_ms.p99,
        lambda one: f"{one.read_ms.p50:.1f} / {one.read_ms.p99:.1f}",
        MAX_READ_P99_MS,
    ),
    Panel(
        "From publishing until a follower sees it: p50 (dark) and p99, ms; target: 30,000",
        lambda one: one.fresh_ms.p50,
        lambda one: one.fresh_ms.p99,
        lambda one: f"{one.fresh_ms.p50:.0f} / {one.fresh_ms.p99:.0f}",
        MAX_VISIBLE_P99_MS,
    ),
    Panel(
        "Timeline entries written per post",
        lambda one: one.amplification,
        lambda one: one.amplification,
        lambda one: f"{one.amplification:.1f}",
    ),
    Panel(
        "CPU time of web, worker and Redis per read or post, ms",
        lambda one: one.cpu_ms,
        lambda one: one.cpu_ms,
        lambda one: f"{one.cpu_ms:.2f}",
    ),
)


def render_svg(report: SimulationReport) -> str:
    """The chart as the text of an SVG file."""
    rows, advice = len(report.outcomes), _advice(report)
    bottom = 60 + len(PANELS) * (GAP + rows * PANEL)
    height = bottom + len(advice) * LINE + 12
    parts = [_text(16, 30, _title(report), size=15)]
    for index, panel in enumerate(PANELS):
        parts += _panel(panel, report.outcomes, 50 + index * (GAP + rows * PANEL))
    parts += [_text(16, bottom + 16 + index * LINE, line) for index, line in enumerate(advice)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" role="img" aria-label="{escape(_title(report))}">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def render_text(report: SimulationReport, width: int = 40) -> list[str]:
    """The same bars for a terminal, one line each; main values only."""
    lines: list[str] = []
    for panel in PANELS:
        most = max((panel.main(one) for one in report.outcomes), default=0.0)
        lines += ["", panel.title.replace(" (dark)", "")]
        lines += [
            f"  {_name(one):<16} {'█' * _length(panel.main(one), most, width):<{width}} {panel.format(one)}"
            for one in report.outcomes
        ]
    return lines


def _panel(panel: Panel, outcomes: Sequence[ThresholdOutcome], top: int) -> list[str]:
    most, best = max((panel.worse(one) for one in outcomes), default=0.0), recommend(outcomes)
    parts = [_text(16, top + 28, panel.title, size=13)]
    for row, one in enumerate(outcomes):
        y = top + GAP - 8 + row * PANEL
        worse, main = (_length(value(one), most, BAR) for value in (panel.worse, panel.main))
        dark, light = (BEST_DARK, BEST_LIGHT) if one is best else (DARK, LIGHT)
        parts += [
            _text(16, y + 17, _name(one), colour=BEST_DARK if one is best else PALE),
            f'<rect x="{LABELS}" y="{y}" width="{worse}" height="24" rx="3" fill="{light}"/>',
            f'<rect x="{LABELS}" y="{y}" width="{main}" height="24" rx="3" fill="{dark}"/>',
            _text(LABELS + worse + 8, y + 17, panel.format(one)),
        ]
    if panel.target is not None and panel.target <= most:
        x, first = LABELS + _length(panel.target, most, BAR), top + GAP - 12
        parts.append(
            f'<line x1="{x}" x2="{x}" y1="{first}" y2="{first + len(outcomes) * PANEL}" stroke="{TARGET}" '
            f'stroke-dasharray="4 3"/>'
        )
    return parts


def _advice(report: SimulationReport) -> list[str]:
    """The recommendation below the bars, and the footnote for the asterisk where there is one."""
    lines = wrap(report.advice, LETTERS)
    if any(fell_behind(one) for one in report.outcomes):
        lines.append("* The machine fell behind schedule here: the times are mostly queueing.")
    return lines


def _name(outcome: ThresholdOutcome) -> str:
    return f"{name_of(outcome.threshold)}{' *' if fell_behind(outcome) else ''}"


def _length(value: float, most: float, whole: int) -> int:
    return max(1, round(value / most * whole)) if most > 0 and value > 0 else 0


def _text(x: int, y: int, text: str, *, size: int = 12, colour: str = INK) -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}">{escape(text)}</text>'


def _title(report: SimulationReport) -> str:
    choices = report.choices
    return (
        f"{choices.people:,} people, {choices.hours:g} h at {choices.speed:,.0f} times real time, "
        f"seed {choices.seed}; the most followed has {report.most_followers:,} followers"
    )
