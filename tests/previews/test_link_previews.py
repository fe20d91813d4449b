"""Previews of links, as crawlers read them: nothing but what everybody may see."""

import io
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from httpx import Response
from PIL import Image

from shardwright.ids import decode_short
from tests.api.access.scenario import account_id
from tests.previews.conftest import PAGE, SITE, Site
from tests.previews.strict_parsers import find_oembed, parse_oembed, parse_preview
from tests.support import eventually, set_status
from tests.workers import run_worker
from tintype.api.pages.app_routes import APP_ROUTES
from tintype.base.ids import PostId

NASTY = '"><script>alert(1)</script>\u202e & <b>"quotes"</b>\n\nof the #dusk ' + "and words " * 60
UNKNOWN_POST, UNKNOWN_PROFILE = "/p/0000000000B", "/@nobody_at_all"


async def test_a_post_says_who_made_it_and_shows_its_picture(site: Site) -> None:
    ana = await site.join("ana", full_name='Ana "Lima" <3')
    path = await site.post(ana, NASTY, width=2_000, height=1_000, alt_texts=["A bridge & its <shadow>"])

    answer = await site.get(path)
    head = parse_preview(answer.text)

    found = head.properties
    assert answer.status_code == 200
    assert head.titles == ['Ana "Lima" <3 (@ana) · Tintype']
    assert found["og:url"] == SITE + path
    assert found["og:title"] == 'Ana "Lima" <3 (@ana)'
    assert found["og:description"].startswith(
        '"><script>alert(1)</script> & <b>"quotes"</b> of the #dusk and words'
    )
    assert found["og:description"].endswith("words…")
    assert found["og:image:alt"] == "A bridge & its <shadow>"
    assert found["twitter:card"] == "summary_large_image"
    assert "<script>alert" not in answer.text
    assert 'content="The app."' not in answer.text
    assert answer.text.endswith('<body><div id="app"></div></body></html>')


@pytest.mark.parametrize(("width", "height"), [(2_000, 1_000), (900, 1_600), (400, 400)])
async def test_the_picture_is_a_jpeg_of_the_size_that_is_told_and_stops_with_its_post(
    site: Site, width: int, height: int
) -> None:
    ana = await site.join("ana")
    path = await site.post(ana, width=width, height=height)
    found = parse_preview((await site.get(path)).text).properties
    address = urlsplit(found["og:image"]).path

    answer = await site.get(address, accept="image/avif,image/webp,*/*")
    again = await site.get(address)
    with Image.open(io.BytesIO(answer.content)) as picture:
        size, kind = picture.size, picture.format
    await ana.call("DELETE", f"/posts/{_id_of(path)}")
    after = await site.get(address)

    assert (answer.status_code, answer.headers["content-type"], kind) == (200, "image/jpeg", "JPEG")
    assert again.content == answer.content
    assert size == (int(found["og:image:width"]), int(found["og:image:height"]))
    assert max(size) <= 1_200
    assert abs(size[0] / size[1] - width / height) < 0.01
    assert after.status_code == 404


async def test_a_profile_a_hashtag_and_a_place_have_previews(site: Site) -> None:
    ana = await site.join("ana", full_name="Ana Lima", bio="Bridges,\nmostly.")
    spot = (
        await ana.call("POST", "/places", json={"name": "Gate <1>", "latitude": 1, "longitude": 2})
    ).json()
    place = {"place_id": spot["place_id"], "name": "Gate <1>", "lat": 1, "lon": 2}
    path = await site.post(ana, "at #Dämmerung", place=place)
    async with run_worker(site.rooms, schedules=()):
        await eventually(lambda: _is_there(site, "/tags/dämmerung"), what="the hashtag has a page")
        await eventually(lambda: _is_there(site, f"/places/{spot['place_id']}"), what="the place has a page")

    pages = {
        "/@Ana": ("profile", "Ana Lima (@ana)", "Bridges, mostly."),
        "/tags/D%C3%A4mmerung": ("website", "#dämmerung", "1 post"),
        f"/places/{spot['place_id']}": ("website", "Gate <1>", "1 post"),
    }
    for address, expected in pages.items():
        found = parse_preview((await site.get(address)).text).properties
        assert (found["og:type"], found["og:title"], found["og:description"]) == expected
    picture = parse_preview((await site.get(path)).text).properties["og:image"]
    assert parse_preview((await site.get("/tags/dämmerung")).text).properties["og:image"] == picture
    assert parse_preview((await site.get("/@Ana")).text).properties["og:url"] == f"{SITE}/@ana"


async def test_what_not_everybody_may_see_answers_as_what_was_never_made(site: Site) -> None:
    people = {name: await site.join(name) for name in ("hidden", "private", "unlisted", "away", "archiving")}
    posts = {name: await site.post(person, f"#{name} words") for name, person in people.items()}
    async with run_worker(site.rooms, schedules=()):
        for name in people:
            await eventually(lambda name=name: _is_there(site, f"/tags/{name}"), what=f"#{name} has a page")
    assert [await _status(site, path) for path in posts.values()] == [200] * 5

    await people["private"].call("PATCH", "/accounts/me", json={"is_private": True})
    await people["unlisted"].call("PATCH", "/accounts/me", json={"is_unlisted": True})
    await set_status(site.rooms, account_id(people["away"]), "suspended")
    await people["archiving"].call("PUT", f"/posts/{_id_of(posts['archiving'])}/archive")
    await site.rooms.posts.hide(PostId(_id_of(posts["hidden"])), account_id(people["hidden"]))

    for name, path in posts.items():
        unknown = await site.get(UNKNOWN_POST)
        assert _told(await site.get(path)) == _told(unknown), name
        assert _told(await site.get(f"{path}/embed")) == _told(await site.get(f"{UNKNOWN_POST}/embed")), name
        assert _refusal(await _oembed(site, path)) == _refusal(await _oembed(site, UNKNOWN_POST)), name
        assert _told(await site.get(f"/tags/{name}")) == _told(await site.get("/tags/never_used")), name
        assert unknown.status_code == 404
    for name in ("private", "unlisted", "away"):
        assert _told(await site.get(f"/@{name}")) == _told(await site.get(UNKNOWN_PROFILE)), name
        assert _refusal(await _oembed(site, f"/@{name}")) == _refusal(await _oembed(site, UNKNOWN_PROFILE)), (
            name
        )


async def test_a_deleted_post_is_gone_and_one_that_was_hidden_was_never_there(site: Site) -> None:
    ana, bo = await site.join("ana"), await site.join("bo")
    paths = [await site.post(ana), await site.post(ana), await site.post(bo)]
    await ana.call("PUT", f"/posts/{_id_of(paths[1])}/archive")
    for path, person in zip(paths, (ana, ana, bo), strict=True):
        assert (await person.call("DELETE", f"/posts/{_id_of(path)}")).status_code == 204
    await bo.call("PATCH", "/accounts/me", json={"is_private": True})

    assert [await _status(site, path) for path in paths] == [410, 404, 404]
    assert [await _status(site, f"{path}/embed") for path in paths] == [410, 404, 404]
    assert (await site.get(paths[0])).text == PAGE


async def test_whoever_signs_in_gets_the_plain_page(site: Site) -> None:
    ana, bo = await site.join("ana"), await site.join("bo")
    path = await site.post(ana, "words")
    await ana.call("PUT", f"/blocks/{bo.account_id}")

    for credentials in ({"authorization": f"Bearer {bo.token}"}, {"cookie": f"tt_session={bo.token}"}):
        for address in (path, "/@ana", UNKNOWN_POST):
            answer = await site.get(address, **credentials)
            assert (answer.status_code, answer.text) == (200, PAGE)
        for address in (f"{path}/embed", f"/oembed?url={SITE}{path}"):
            answer = await site.get(address, **credentials)
            assert answer.status_code == 404
            assert "ana" not in answer.text


async def test_a_page_that_the_app_does_not_have_is_not_found_and_shows_the_app(site: Site) -> None:
    for address in ("/nowhere", "/p", "/p/a/b", "/@ana/a/b", "/tags", "/moderation/other", "/p/%00", "/@%ff"):
        answer = await site.get(address)
        assert (answer.status_code, answer.text) == (404, PAGE), address
        assert answer.headers["x-robots-tag"] == "noindex"
    for address in ("/", "/settings", "/settings/profile", "/login", "/explore", "/explore/"):
        assert (await site.get(address)).status_code == 200, address


async def test_an_unchanged_page_is_not_sent_again_and_an_error_always_is(site: Site) -> None:
    ana = await site.join("ana")
    path = await site.post(ana)
    first = await site.get(path)
    tag = first.headers["etag"]

    assert (await site.get(path, **{"if-none-match": tag})).status_code == 304
    await ana.call("PATCH", f"/posts/{_id_of(path)}", json={"caption": "other"})
    assert (await site.get(path, **{"if-none-match": tag})).status_code == 200
    missing = await site.get(UNKNOWN_POST)
    assert (await site.get(UNKNOWN_POST, **{"if-none-match": missing.headers["etag"]})).status_code == 404


@pytest.mark.parametrize("choices", [{"guests_may_read": False}])
async def test_a_closed_site_tells_guests_nothing(site: Site) -> None:
    ana = await site.join("ana")
    path = await site.post(ana, "words")

    for address in (path, UNKNOWN_POST, "/@ana", UNKNOWN_PROFILE, "/"):
        answer = await site.get(address)
        assert (answer.status_code, answer.text) == (200, PAGE)
    assert await _status(site, f"{path}/embed") == 404
    assert (await _oembed(site, path)).status_code == 404
    assert (await site.get("/robots.txt")).text == "User-agent: *\nDisallow: /\n"
    assert (await site.get("/sitemap.xml")).status_code == 404


def test_the_server_knows_the_routes_of_the_app() -> None:
    app = Path(__file__).resolve().parents[2] / "web" / "src" / "app"
    sources = (app / "homeRoute.ts").read_text() + (app / "routes.ts").read_text()

    assert sorted(re.findall(r'pattern: "([^"]+)"', sources)) == sorted(APP_ROUTES)


async def test_an_oembed_fits_into_the_limits_it_is_given(site: Site) -> None:
    ana = await site.join("ana", full_name="Ana Lima")
    path = await site.post(ana, "words", width=1_000, height=1_500)
    address = urlsplit(find_oembed(parse_preview((await site.get(path)).text)))

    whole = parse_oembed((await site.get(f"{address.path}?{address.query}")).json())
    small = parse_oembed(
        (await _oembed(site, path, "&maxwidth=300&maxheight=350")).json(), maxwidth=300, maxheight=350
    )
    profile = parse_oembed((await _oembed(site, "/@ana")).json())

    assert (whole["type"], whole["author_name"], whole["author_url"]) == ("rich", "Ana Lima", f"{SITE}/@ana")
    assert f'src="{SITE}{path}/embed"' in whole["html"]
    assert (small["width"], small["height"], small["thumbnail_width"]) == (300, 350, 150)
    assert (profile["type"], profile["title"]) == ("link", "Ana Lima (@ana)")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 404),
        ("url=https://elsewhere.example/p/x", 404),
        (f"url={SITE}/settings", 404),
        (f"url={SITE}{UNKNOWN_POST}", 404),
        (f"url={SITE}.elsewhere.example/@ana", 404),
        (f"url={SITE}/@ana&format=xml", 501),
        (f"url={SITE}/@ana&maxwidth=wide", 400),
        (f"url={SITE}/@ana&maxheight=0", 400),
        ("url=http://[", 404),
        (f"url={SITE}/@ana/&maxwidth=100", 200),
        ("url=http://photos.example.org:80/@ana", 200),
    ],
)
async def test_an_oembed_of_something_else_is_refused_as_the_specification_says(
    site: Site, query: str, status: int
) -> None:
    await site.join("ana")

    assert (await site.get(f"/oembed?{query}")).status_code == status


async def test_an_embed_alone_may_be_framed_and_runs_no_script(site: Site) -> None:
    ana = await site.join("ana", full_name="<b>Ana</b>")
    path = await site.post(ana, NASTY)

    embed = await site.get(f"{path}/embed")
    german, arabic = [
        await site.get(f"{path}/embed", **{"accept-language": each}) for each in ("de-AT", "fr, ar;q=.5")
    ]

    policy = embed.headers["content-security-policy"]
    assert embed.status_code == 200
    assert "frame-ancestors *" in policy
    assert "script" not in policy.replace("default-src 'none'", "")
    assert "x-frame-options" not in embed.headers
    assert "<script" not in embed.text
    assert "&lt;b&gt;Ana&lt;/b&gt;" in embed.text
    assert "Auf Tintype ansehen" in german.text
    assert 'dir="rtl"' in arabic.text
    for address in (path, "/", "/@ana", "/oembed", "/robots.txt", "/api/v1/feed"):
        answer = await site.get(address)
        assert answer.headers["x-frame-options"] == "DENY", address
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], address


async def _is_there(site: Site, path: str) -> bool:
    return await _status(site, path) == 200


async def _status(site: Site, path: str) -> int:
    return (await site.get(path)).status_code


async def _oembed(site: Site, path: str, more: str = "") -> Response:
    return await site.get(f"/oembed?url={SITE}{path}{more}")


def _id_of(path: str) -> int:
    return decode_short(path.rsplit("/", 1)[1])


def _told(answer: Response) -> tuple[int, str, dict[str, str]]:
    """Everything of an answer that does not differ from one request to the next."""
    changing = {"x-request-id", "date", "ratelimit", "ratelimit-policy"}
    return answer.status_code, answer.text, {k: v for k, v in answer.headers.items() if k not in changing}


def _refusal(answer: Response) -> tuple[int, str, str]:
    body = answer.json()
    return answer.status_code, body["code"], body["detail"]
