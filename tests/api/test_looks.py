import io
from urllib.parse import quote

import pytest
from httpx import AsyncClient
from PIL import Image


async def test_looks_are_listed_with_their_tables(client: AsyncClient) -> None:
    looks = (await client.get("/api/v1/looks")).json()["looks"]

    strip = await client.get(looks[0]["strip"])

    assert len(looks) >= 20
    assert set(looks[0]) == {"id", "name", "strip", "vignette", "grain"}
    assert strip.headers["content-type"] == "image/png"
    assert "immutable" in strip.headers["cache-control"]
    with Image.open(io.BytesIO(strip.content), formats=["PNG"]) as image:
        assert image.size == (1089, 33)


@pytest.mark.parametrize("name", ["ferrous.png", "ferrous-000000000000.png", "../names.py", "\0", "%"])
async def test_a_table_that_is_not_there_is_not_found(client: AsyncClient, name: str) -> None:
    answer = await client.get(f"/api/v1/looks/{quote(name, safe='')}")

    assert answer.status_code == 404
