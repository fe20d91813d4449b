"""How the address of a replica and that of its server make a DSN."""

import pytest

from shardwright.errors import SetupInvalid
from shardwright.topology import replica_dsn

PRIMARY = "postgresql://app:p%40ss@db1:6000/app?sslmode=require"


@pytest.mark.parametrize(
    ("address", "dsn"),
    [
        ("db2:6001", "postgresql://app:p%40ss@db2:6001/app?sslmode=require"),
        ("db2", "postgresql://app:p%40ss@db2:5432/app?sslmode=require"),
        ("[::1]:6001", "postgresql://app:p%40ss@[::1]:6001/app?sslmode=require"),
        ("[::1]", "postgresql://app:p%40ss@[::1]:5432/app?sslmode=require"),
        ("/run/pg:6001", "postgresql://app:p%40ss@/app?sslmode=require&host=%2Frun%2Fpg&port=6001"),
        ("postgresql://reader@db2/app", "postgresql://reader@db2/app"),
        ("host=db2 dbname=app", "host=db2 dbname=app"),
    ],
)
def test_a_host_takes_the_rest_from_the_servers_address(address: str, dsn: str) -> None:
    assert replica_dsn(PRIMARY, address) == dsn


def test_an_address_in_keywords_keeps_its_form() -> None:
    assert replica_dsn("host=db1 port=6000 user=app", "db2:6001") == "user=app host=db2 port=6001"


@pytest.mark.parametrize("address", ["", ":", "db2:port", ":5432"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(SetupInvalid, match="host:port"):
        replica_dsn(PRIMARY, address)
