"""The version of the library's SQL is raised whenever the SQL changes, so that a change reaches existing shards."""

import hashlib

from shardwright.ids import DEFAULT_EPOCH_MS, Layout
from shardwright.migrations.upgrade import STEPS
from shardwright.topology import LIBRARY_VERSION, creation_sql, directory_tables, guard_sql, server_sql

SQL_OF_VERSION = {2: "431850c6ee6fff2f270c2af0dbdf67a5a054beb7d18b1c4ea12bbd10651dbd97"}
"""The SHA-256 of everything that the library creates, by its version."""


def test_a_change_of_the_sql_comes_with_its_version() -> None:
    layout = Layout(DEFAULT_EPOCH_MS)
    parts = [directory_tables.CREATE, server_sql(layout), creation_sql(0, layout), guard_sql(0, owned=False)]
    found = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    assert SQL_OF_VERSION[LIBRARY_VERSION] == found, (
        "The library's own SQL has changed. If a release has this LIBRARY_VERSION already, raise it in "
        "shardwright.topology.library_version: otherwise the change never reaches existing shards. What CREATE OR "
        "REPLACE cannot change is a step in shardwright.migrations.upgrade.steps. Then note the new SHA-256 here."
    )


def test_every_step_leads_to_a_version_that_exists() -> None:
    assert all(2 <= step.version <= LIBRARY_VERSION for step in STEPS)
