"""Developer commands: test, check, bench, lock, schema, client, docs. They need a checkout and are not shipped."""
