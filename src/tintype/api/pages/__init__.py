"""What the server itself writes for guests, crawlers and other sites: the head of pages, embeds, oEmbed, sitemaps."""

from tintype.api.pages.app_page import PageHeads
from tintype.api.pages.oembed import oembed
from tintype.api.pages.robots import robots_txt, sitemap_index, sitemap_page

__all__ = ["PageHeads", "oembed", "robots_txt", "sitemap_index", "sitemap_page"]
