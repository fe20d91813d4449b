"""Logs: stamped, rotated, merged in order, followed across a rotation, and safe on a full disk."""

import contextlib
import io
from itertools import islice
from pathlib import Path

from rich.console import Console

from tintype.stack.console import Screen, paint
from tintype.stack.following import follow
from tintype.stack.logs import Channel, Line, LogBook, last_lines, names_of


def test_lines_of_all_programs_come_back_in_the_order_they_were_said(tmp_path: Path) -> None:
    book = LogBook(tmp_path)
    for number in range(6):
        book.channel("web" if number % 2 else "worker").say(f"line {number}")
    book.close()

    assert names_of(tmp_path) == ["web", "worker"]
    assert [line.text for line in last_lines(tmp_path, ["web", "worker"], 4)] == [
        f"line {n}" for n in (2, 3, 4, 5)
    ]


def test_a_large_file_is_rotated_and_only_a_few_are_kept(tmp_path: Path) -> None:
    channel = Channel("web", tmp_path / "web.log", None, rotate_bytes=200)
    for number in range(60):
        channel.say(f"a line of some length, number {number}")
    channel.close()

    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "web.log",
        "web.log.1",
        "web.log.2",
        "web.log.3",
    ]
    assert last_lines(tmp_path, ["web"], 3)[-1].text.endswith("number 59")


def test_following_goes_on_after_a_rotation_and_hears_newcomers(tmp_path: Path) -> None:
    book = LogBook(tmp_path)
    book.channel("web").say("before")
    web = Channel("web", tmp_path / "web.log", None, rotate_bytes=1)
    with contextlib.closing(follow(tmp_path, [])) as lines:
        book.channel("late").say("hello")
        heard = [*islice(lines, 1)]
        for text in ("one", "two", "three"):
            web.say(text)
            heard += islice(lines, 1)
    book.close()
    web.close()

    assert [line.text for line in heard] == ["hello", "one", "two", "three"]


def test_a_disk_that_cannot_be_written_does_not_silence_the_console(tmp_path: Path) -> None:
    shown: list[Line] = []
    channel = Channel("web", tmp_path / "gone" / "web.log", shown.append)
    channel.say("still here")
    assert [line.text for line in shown] == ["still here"]


def test_a_line_shows_who_spoke_and_never_reads_markup_from_it(tmp_path: Path) -> None:
    (line,) = [*_one_line(tmp_path, "[/red] done")]
    assert paint(line).plain.endswith("web        │ [/red] done")


def test_a_terminal_that_goes_away_does_not_take_the_supervisor_along(tmp_path: Path) -> None:
    screen = Screen(Console(file=_Gone()))
    for line in _one_line(tmp_path, "text"):
        screen.show(line)
        screen.show(line)


class _Gone(io.StringIO):
    def write(self, text: str, /) -> int:
        raise BrokenPipeError(text)


def _one_line(folder: Path, text: str) -> list[Line]:
    book = LogBook(folder)
    book.channel("web").say(text)
    book.close()
    return last_lines(folder, ["web"], 1)
