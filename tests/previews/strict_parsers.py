"""Strict readers of what crawlers read: OpenGraph and Twitter card in the head of a page, oEmbed, sitemaps.

They refuse what lenient crawlers guess at: missing or repeated properties, relative addresses, wrong types.
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

REQUIRED = ("og:title", "og:type", "og:image", "og:url")
OPEN_GRAPH_TYPES = {"article", "profile", "website"}
CARDS = {"summary", "summary_large_image"}
ADDRESSES = {"og:image", "og:url", "article:author", "twitter:image"}
NUMBERS = {"og:image:width", "og:image:height"}
KNOWN = {
    *("og:site_name", "og:type", "og:title", "og:description", "og:url", "og:image", "og:image:type"),
    *("og:image:width", "og:image:height", "og:image:alt", "profile:username", "article:author"),
    *("twitter:card", "twitter:title", "twitter:description", "twitter:image", "twitter:image:alt"),
}
OEMBED_FIELDS: dict[str, type] = {
    "type": str, "version": str, "title": str, "author_name": str, "author_url": str, "provider_name": str,
    "provider_url": str, "cache_age": int, "thumbnail_url": str, "thumbnail_width": int, "thumbnail_height": int,
    "html": str, "width": int, "height": int,
}  # fmt: skip
OEMBED_REQUIRED = {"link": set[str](), "rich": {"html", "width", "height"}}
THUMBNAIL = {"thumbnail_url", "thumbnail_width", "thumbnail_height"}
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@dataclass
class PageHead(HTMLParser):
    """The head of a page; raises AssertionError where it is not as the specifications say."""

    properties: dict[str, str] = field(default_factory=dict[str, str])
    links: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    titles: list[str] = field(default_factory=list[str])
    _is_head: bool = False
    _is_title: bool = False

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> repeats an attribute"
        found = {name: value or "" for name, value in attrs}
        if tag == "head":
            self._is_head = True
        elif tag == "title" and self._is_head:
            self._is_title = True
            self.titles.append("")
        elif tag == "link":
            self.links.append(found)
        elif tag == "meta":
            self._add(found)

    def handle_endtag(self, tag: str) -> None:
        if tag == "head":
            self._is_head = False
        elif tag == "title":
            self._is_title = False

    def handle_data(self, data: str) -> None:
        if self._is_title:
            self.titles[-1] += data

    def _add(self, found: dict[str, str]) -> None:
        name = found.get("property") or found.get("name") or ""
        if name.split(":")[0] not in {"og", "article", "profile", "twitter"}:
            return
        assert self._is_head, f"{name} is outside of the head"
        attribute = "name" if name.startswith("twitter:") else "property"
        assert attribute in found, f"{name} belongs into the attribute {attribute}"
        assert name in KNOWN, f"{name} is not a property"
        assert name not in self.properties, f"{name} stands twice"
        assert found.get("content", "").strip(), f"{name} is empty"
        if name.startswith("og:image:"):
            assert "og:image" in self.properties, f"{name} stands before its image"
        self.properties[name] = found["content"]


def parse_preview(html: str) -> PageHead:
    """Read the preview of a page, strictly."""
    head = PageHead()
    head.feed(html)
    found = head.properties
    assert len(head.titles) == 1, f"{len(head.titles)} titles"
    assert all(name in found for name in REQUIRED), f"{REQUIRED} are required: {found}"
    assert found["og:type"] in OPEN_GRAPH_TYPES
    assert found["twitter:card"] in CARDS
    for name in ADDRESSES & found.keys():
        assert_absolute(found[name])
    assert all(found[name].isdigit() and int(found[name]) > 0 for name in NUMBERS & found.keys())
    assert len(found["og:title"]) <= 120
    assert len(found.get("og:description", "")) <= 300
    canonical = [link["href"] for link in head.links if link.get("rel") == "canonical"]
    assert canonical == [found["og:url"]], "the canonical address is og:url"
    return head


def find_oembed(head: PageHead) -> str:
    """The address of the one oEmbed that a page names."""
    named = [link for link in head.links if link.get("type") == "application/json+oembed"]
    assert [link["rel"] for link in named] == ["alternate"]
    address = named[0]["href"]
    assert_absolute(address)
    assert parse_qs(urlsplit(address).query, strict_parsing=True)["url"] == [head.properties["og:url"]]
    return address


def parse_oembed(body: dict[str, Any], *, maxwidth: int = 10**6, maxheight: int = 10**6) -> dict[str, Any]:
    """Read an oEmbed response, strictly: known fields of the right type, all that its type requires."""
    assert not body.keys() - OEMBED_FIELDS.keys(), f"unknown: {body.keys() - OEMBED_FIELDS.keys()}"
    for name, value in body.items():
        assert type(value) is OEMBED_FIELDS[name], f"{name} is a {type(value).__name__}"
    assert body["version"] == "1.0"
    assert not OEMBED_REQUIRED[body["type"]] - body.keys()
    assert not (THUMBNAIL & body.keys()) or body.keys() >= THUMBNAIL
    for width, height in (("width", "height"), ("thumbnail_width", "thumbnail_height")):
        if width in body:
            assert 0 < body[width] <= maxwidth
            assert 0 < body[height] <= maxheight
    for name in ("author_url", "provider_url", "thumbnail_url"):
        if name in body:
            assert_absolute(body[name])
    return body


def parse_sitemap(content: str, kind: str) -> list[str]:
    """The addresses of a sitemap or of an index of sitemaps, of the given kind of element."""
    root = ET.fromstring(content)  # noqa: S314 - the server's own answer
    assert root.tag == SITEMAP + {"url": "urlset", "sitemap": "sitemapindex"}[kind]
    assert {each.tag for each in root} <= {SITEMAP + kind}
    found = [each.findtext(f"{SITEMAP}loc") or "" for each in root]
    for each in root.iter(f"{SITEMAP}lastmod"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", each.text or "")
    for address in found:
        assert_absolute(address)
    assert len(found) == len(set(found)) <= 50_000
    return found


def assert_absolute(address: str) -> None:
    """Whether an address can be fetched as it stands."""
    parts = urlsplit(address)
    assert parts.scheme in {"http", "https"}, address
    assert parts.netloc, address
    assert not re.search(r'[\s<>"]', address), address
