"""Media: pictures on their way from a phone to a post.

Owns `media` (on the uploader's shard) and the files in the object store.
"""

from tintype.media.errors import MediaNotFound, MediaRefused
from tintype.media.leaving import MediaBelongings
from tintype.media.models import Media, urls_of
from tintype.media.service import QUERIES, MediaLibrary

__all__ = ["QUERIES", "Media", "MediaBelongings", "MediaLibrary", "MediaNotFound", "MediaRefused", "urls_of"]
