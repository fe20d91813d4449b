"""Collections of saved posts."""

import msgspec

from tintype.saves import Collection


class CollectionView(msgspec.Struct, frozen=True):
    """A collection of saved posts, seen by its owner alone."""

    collection_id: str
    name: str
    post_count: int
    cover_post_id: str | None


class CollectionsView(msgspec.Struct, frozen=True):
    """All collections, in the order their owner gave them."""

    collections: list[CollectionView]


def show_collection(collection: Collection) -> CollectionView:
    """A collection, for its owner."""
    cover = collection.cover_post_id
    return CollectionView(
        str(collection.id), collection.name, collection.post_count, str(cover) if cover else None
    )
