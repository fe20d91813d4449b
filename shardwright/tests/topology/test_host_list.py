"""Addresses that name several hosts."""

import pytest

from shardwright.topology.host_list import split_hosts


@pytest.mark.parametrize(
    ("dsn", "expected"),
    [
        ("postgresql://u:p@h/db", ["postgresql://u:p@h/db"]),
        ("postgresql:///db", ["postgresql:///db"]),
        ("host=a,b dbname=app", ["host=a,b dbname=app"]),
        (
            "postgresql://u:p,w@h1,h2:5433/db?sslmode=require",
            [
                "postgresql://u:p,w@h1/db?sslmode=require",
                "postgresql://u:p,w@h2:5433/db?sslmode=require",
            ],
        ),
        ("postgresql://[::1]:1,[::2]:2/db", ["postgresql://[::1]:1/db", "postgresql://[::2]:2/db"]),
        ("postgresql://u:p@h:1,[::1]/db", ["postgresql://u:p@h:1/db", "postgresql://u:p@[::1]/db"]),
        ("postgresql://h,h/db", ["postgresql://h/db"]),
        ("postgresql://u@/db?host=/run/a&port=1", ["postgresql://u@/db?host=/run/a&port=1"]),
        (
            "postgresql://u@/db?host=/run/a,/run/b&port=1,2",
            [
                "postgresql://u@/db?host=%2Frun%2Fa&port=1",
                "postgresql://u@/db?host=%2Frun%2Fb&port=2",
            ],
        ),
        (
            "postgresql:///db?host=a,b&port=6432",
            [
                "postgresql:///db?host=a&port=6432",
                "postgresql:///db?host=b&port=6432",
            ],
        ),
        ("postgresql:///db?host=a,b", ["postgresql:///db?host=a", "postgresql:///db?host=b"]),
    ],
)
def test_each_host_has_an_address_of_its_own(dsn: str, expected: list[str]) -> None:
    assert list(split_hosts(dsn)) == expected
