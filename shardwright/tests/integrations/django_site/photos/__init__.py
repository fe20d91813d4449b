"""A small Django application: authors, their photos, comments and tags. Its models know nothing of shards."""
