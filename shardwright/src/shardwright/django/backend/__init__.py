"""The database backend of shards: Django's for PostgreSQL, over connections shared by the shards of a server."""
