"""Previews: what a link to a post, profile, hashtag or place tells everybody, and the sitemaps that list such links.

Owns no tables. Only what everybody may see has a preview, and nothing of accounts that are unlisted: for everything
else the answer is the one for what does not exist.
"""

from tintype.previews.errors import PreviewGone, PreviewNotFound
from tintype.previews.links import Link, PlaceLink, PostLink, ProfileLink, TagLink
from tintype.previews.models import Preview, PreviewImage
from tintype.previews.service import Previews
from tintype.previews.sitemap import SITEMAP_KINDS, SitemapEntry, SitemapKind, SitemapPage, Sitemaps
from tintype.previews.store import QUERIES

__all__ = [
    "QUERIES",
    "SITEMAP_KINDS",
    "Link",
    "PlaceLink",
    "PostLink",
    "Preview",
    "PreviewGone",
    "PreviewImage",
    "PreviewNotFound",
    "Previews",
    "ProfileLink",
    "SitemapEntry",
    "SitemapKind",
    "SitemapPage",
    "Sitemaps",
    "TagLink",
]
