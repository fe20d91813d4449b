"""Bytes: rows in PostgreSQL, files by tier, what Redis keeps, what leaves for browsers."""

from tintype.capacity.demand import DAY_S
from tintype.capacity.models import Assumptions, Costs, Storage

_HOT_DAYS = 7
"""`media_warm_after_days`."""
_COLD_AFTER_YEARS = 1.0
"""`media_cold_after_days`."""
_REDIS_POST_DAYS = 10
"""For how long ranking keeps the features of a post."""
_YEAR_DAYS = 365
_MB, _GB, _TB = 10**6, 10**9, 10**12


def stored(users: int, given: Assumptions, costs: Costs) -> Storage:
    """Terabytes after the given years, at today's number of people."""
    daily = users * given.daily_share
    upload_bytes = (given.upload_mb + costs.renditions_mb) * _MB
    a_day = daily * given.uploads * upload_bytes / _TB
    days = given.years * _YEAR_DAYS
    hot = min(days, _HOT_DAYS) * a_day
    old = max(0.0, given.years - _COLD_AFTER_YEARS) * _YEAR_DAYS * a_day
    cold = old * given.cold_share
    return Storage(
        hot_tb=hot,
        warm_tb=days * a_day - hot - cold,
        cold_tb=cold,
        rows_tb=(users * costs.row_bytes.account + daily * days * _row_bytes_a_day(given, costs)) / _TB,
        files_tb_a_year=_YEAR_DAYS * a_day,
    )


def redis_gb(users: int, given: Assumptions, costs: Costs) -> float:
    """What Redis holds: timelines and features of the week's readers, and recent posts."""
    posts = users * given.daily_share * given.uploads * _REDIS_POST_DAYS
    readers = users * given.weekly_share
    return (readers * costs.redis_bytes.reader + posts * costs.redis_bytes.post) / _GB


def egress_gbit_s(users: int, given: Assumptions) -> float:
    """Files that browsers fetch at the peak, wherever they come from."""
    files_per_s = users * given.daily_share * given.files * given.peak / DAY_S
    return files_per_s * given.file_kb * 1_000 * 8 / _GB


def _row_bytes_a_day(given: Assumptions, costs: Costs) -> float:
    each = costs.row_bytes
    return (
        given.likes * each.like
        + given.comments * each.comment
        + given.follows * each.follow
        + given.uploads * each.post
        + given.messages * each.message
    )
