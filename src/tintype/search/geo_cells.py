"""Geographic grid cells: small ones so that a place is created once, larger ones so that "nearby" reads a few shards.

Cells are about as wide as they are high everywhere: a row of them around the globe has fewer near the poles.
"""

import math

SMALL_M = 100.0
LARGE_M = 5_000.0
METRES_PER_DEGREE = 111_195.0
EARTH_RADIUS_M = 6_371_000.0


def cell_of(latitude: float, longitude: float, side_m: float) -> str:
    """The name of the cell that a point lies in."""
    row = _row(latitude, side_m)
    return f"{row}/{_column(row, longitude, side_m)}"


def cells_around(latitude: float, longitude: float, side_m: float) -> list[str]:
    """The cell of a point and those around it: together they hold everything within `side_m` of the point."""
    middle = _row(latitude, side_m)
    last = _row(90.0, side_m)
    found: dict[str, None] = {cell_of(latitude, longitude, side_m): None}
    for row in range(max(0, middle - 1), min(last, middle + 1) + 1):
        count = _columns(row, side_m)
        column = _column(row, longitude, side_m)
        for each in (column - 1, column, column + 1):
            found[f"{row}/{each % count}"] = None
    return list(found)


def distance_m(latitude: float, longitude: float, other_latitude: float, other_longitude: float) -> float:
    """The great-circle distance between two points."""
    lat, other = math.radians(latitude), math.radians(other_latitude)
    across = math.radians(other_longitude - longitude)
    haversine = math.sin((other - lat) / 2) ** 2 + math.cos(lat) * math.cos(other) * math.sin(across / 2) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(haversine)))


def _row(latitude: float, side_m: float) -> int:
    return int((latitude + 90.0) * METRES_PER_DEGREE / side_m)


def _columns(row: int, side_m: float) -> int:
    """How many cells a row around the globe has, by its edge that is nearer to a pole."""
    degrees = side_m / METRES_PER_DEGREE
    south = row * degrees - 90.0
    farthest = min(90.0, max(abs(south), abs(south + degrees)))
    return max(1, int(360.0 * METRES_PER_DEGREE * math.cos(math.radians(farthest)) / side_m))


def _column(row: int, longitude: float, side_m: float) -> int:
    count = _columns(row, side_m)
    return int(((longitude + 180.0) % 360.0) / 360.0 * count) % count
