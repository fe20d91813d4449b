"""What people do, by operation and second at the peak, and what that takes of each kind of process."""

from tintype.capacity.models import Assumptions, Cost, Costs

DAY_S = 86_400
PARTS = Cost.__struct_fields__
"""Kinds of process."""
WRITES = ("like", "comment", "follow", "post", "message")
_EVENTS = {"like": 1, "comment": 1, "follow": 1, "post": 1, "upload": 1, "message": 1}
"""Rows of the outbox for one operation."""


def peak_rates(users: int, given: Assumptions) -> dict[str, float]:
    """Operations a second at the peak, by their name in `Costs`."""
    a_day = {
        "read": given.reads * (1 - given.news_share),
        "read_news": given.reads * given.news_share,
        "page": given.pages,
        "file": given.files * (1 - given.edge_share),
        "like": given.likes,
        "comment": given.comments,
        "follow": given.follows,
        "post": given.uploads,
        "fan_out": given.uploads * given.followers,
        "upload": given.uploads,
        "message": given.messages,
    }
    people = users * given.daily_share * given.peak / DAY_S
    return {name: count * people for name, count in a_day.items()}


def needed_cores(rates: dict[str, float], costs: Costs, utilisation: float) -> dict[str, float]:
    """Cores of each kind of process that carry these rates, each no busier than this."""
    return {
        part: sum(rate * getattr(getattr(costs, name), part) for name, rate in rates.items())
        / 1_000
        / utilisation
        for part in PARTS
    }


def writes_per_s(rates: dict[str, float]) -> float:
    """Writes that people make; uploads are part of their posts."""
    return sum(rates[name] for name in WRITES)


def events_per_s(rates: dict[str, float]) -> float:
    """Rows of the outbox: what the relays publish."""
    return sum(rates[name] * count for name, count in _EVENTS.items())
