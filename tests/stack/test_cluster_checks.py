"""The engines of a cluster are compared with each other: clocks, versions, standbys."""

from tintype.stack import Verdict
from tintype.stack.cluster_checks import judge_standbys, judge_together
from tintype.stack.postgres_answer import PostgresAnswer

PRIMARY = PostgresAnswer(address="db1", major=18, followers=1, synchronous=True)


def test_servers_that_agree_are_fine() -> None:
    found = judge_together([PRIMARY, PostgresAnswer(address="db2", major=18, skew_s=0.02)])

    assert [each.verdict for each in found] == [Verdict.OK, Verdict.OK]


def test_clocks_that_differ_from_each_other_are_wrong_though_none_differs_much_from_ours() -> None:
    early, late = (PostgresAnswer(address="db", major=18, skew_s=skew_s) for skew_s in (-0.7, 0.7))

    clocks = judge_together([early, late])[-1]

    assert clocks.verdict is Verdict.WRONG
    assert "1.4 s" in clocks.detail
    assert "NTP" in clocks.fix


def test_versions_that_differ_are_a_warning() -> None:
    versions = judge_together([PRIMARY, PostgresAnswer(address="db2", major=16)])[0]

    assert versions.verdict is Verdict.WARNING
    assert "16, 18" in versions.detail


def test_a_server_that_does_not_answer_is_not_compared() -> None:
    away = PostgresAnswer(address="db2", problem="no answer in time")

    assert judge_together([away]) == []
    assert judge_standbys("pg1", [away]) == []


def test_rows_that_would_be_lost_with_one_machine_are_a_warning() -> None:
    alone, late = (
        PostgresAnswer(address="db1", major=18, followers=followers, synchronous=False)
        for followers in (0, 1)
    )

    assert [each.verdict for each in judge_standbys("pg1", [PRIMARY])] == [Verdict.OK]
    assert [each.verdict for each in judge_standbys("pg1", [alone])] == [Verdict.WARNING]
    assert "none of them synchronous" in judge_standbys("pg1", [late])[0].detail
