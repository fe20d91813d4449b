"""A folder belongs to a process for as long as it lives, and to nobody afterwards."""

import subprocess
import sys
from pathlib import Path

from tintype.base.locked_folders import LockedFolder, remove_abandoned

OWNER = """
import sys
from pathlib import Path
from tintype.base.locked_folders import LockedFolder

print(LockedFolder("job-", Path(sys.argv[1])).path, flush=True)
sys.stdin.read()
"""


def test_a_folder_is_abandoned_when_its_process_was_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        folder = Path(owner.stdout.readline().decode().strip())
        (folder / "file").write_text("x", encoding="utf-8")

        assert remove_abandoned("job-", tmp_path) == 0
        assert (folder / "file").exists()

        owner.kill()

    assert remove_abandoned("job-", tmp_path) == 1
    assert not folder.exists()


def test_a_folder_is_removed_with_everything_in_it(tmp_path: Path) -> None:
    folder = LockedFolder("job-", tmp_path / "not" / "there")
    (folder.path / "below").mkdir()
    assert remove_abandoned("job-", folder.path.parent) == 0

    folder.remove()

    assert list(folder.path.parent.iterdir()) == []


def test_folders_of_another_prefix_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "other-1").mkdir()

    assert remove_abandoned("job-", tmp_path) == 0
    assert (tmp_path / "other-1").is_dir()
