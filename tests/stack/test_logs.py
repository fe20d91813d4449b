"""Logs: timestamped, rotated, merged in order, followed across a rotation, and safe on a full disk."""

import contextlib
import io
from itertools import islice
from pathlib import Path

import pytest
from rich.console import Console

from tintype.stack.console import LogConsole, format_line
from tintype.stack.follow_logs import follow_logs
from tintype.stack.logs import Line, LogFile, LogFiles, last_lines, log_names


def test_lines_of_all_programs_are_merged_in_chronological_order(tmp_path: Path) -> None:
    logs = LogFiles(tmp_path)
    for number in range(6):
        logs.log_file("web" if number % 2 else "worker").write(f"line {number}")
    logs.close()

    assert log_names(tmp_path) == ["web", "worker"]
    assert [line.text for line in last_lines(tmp_path, ["web", "worker"], 4)] == [
        f"line {n}" for n in (2, 3, 4, 5)
    ]


def test_a_large_file_is_rotated_and_only_a_few_are_kept(tmp_path: Path) -> None:
    log_file = LogFile("web", tmp_path / "web.log", None, rotate_bytes=200)
    for number in range(60):
        log_file.write(f"a line of some length, number {number}")
    log_file.close()

    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "web.log",
        "web.log.1",
        "web.log.2",
        "web.log.3",
    ]
    assert last_lines(tmp_path, ["web"], 3)[-1].text.endswith("number 59")


@pytest.mark.slow
def test_following_continues_after_a_rotation_and_picks_up_new_files(tmp_path: Path) -> None:
    logs = LogFiles(tmp_path)
    logs.log_file("web").write("before")
    web = LogFile("web", tmp_path / "web.log", None, rotate_bytes=1)
    with contextlib.closing(follow_logs(tmp_path, [])) as lines:
        logs.log_file("late").write("hello")
        followed = [*islice(lines, 1)]
        for text in ("one", "two", "three"):
            web.write(text)
            followed += islice(lines, 1)
    logs.close()
    web.close()

    assert [line.text for line in followed] == ["hello", "one", "two", "three"]


def test_a_line_that_cannot_be_written_to_disk_still_reaches_the_console(tmp_path: Path) -> None:
    shown: list[Line] = []
    log_file = LogFile("web", tmp_path / "gone" / "web.log", shown.append)
    log_file.write("still here")
    assert [line.text for line in shown] == ["still here"]


def test_a_line_shows_its_program_and_is_never_parsed_as_markup(tmp_path: Path) -> None:
    (line,) = [*_one_line(tmp_path, "[/red] done")]
    assert format_line(line).plain.endswith("web        │ [/red] done")


def test_a_terminal_that_is_closed_does_not_stop_the_supervisor(tmp_path: Path) -> None:
    terminal = _Gone()
    screen = LogConsole(Console(file=terminal))
    (line,) = _one_line(tmp_path, "text")

    screen.show(line)
    screen.show(line)

    assert terminal.write_count == 1  # nothing more is written once the terminal is gone


class _Gone(io.StringIO):
    write_count = 0

    def write(self, text: str, /) -> int:
        self.write_count += 1
        raise BrokenPipeError(text)


def _one_line(folder: Path, text: str) -> list[Line]:
    logs = LogFiles(folder)
    logs.log_file("web").write(text)
    logs.close()
    return last_lines(folder, ["web"], 1)


def test_control_characters_of_a_program_are_escaped_in_its_log_and_on_the_console(tmp_path: Path) -> None:
    shown: list[Line] = []
    log_file = LogFile("nats", tmp_path / "nats.log", shown.append)
    log_file.write("client \x1b[2J\r2026-01-01T00:00:00+00:00 forged \u202e\ttab \u2028")
    log_file.close()

    expected = "client \\x1b[2J\\r2026-01-01T00:00:00+00:00 forged \\u202e"
    assert shown[0].text.startswith(expected)
    assert (tmp_path / "nats.log").read_text().count("\n") == 1
    assert format_line(shown[0]).plain.isprintable()
