"""The wheel works on its own: built, installed, imported and run outside the repository."""

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(each) for each in command], cwd=cwd, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, from a copy of the sources: building must not leave anything in them."""
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("tests", "dist", "__pycache__")
    shutil.copytree(PROJECT, folder / "shardwright", ignore=ignored)
    run(
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        folder,
        cwd=folder / "shardwright",
    )
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel, unpacked as installers do, and only borrows its dependencies."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # Later on the path than the wheel itself; a .pth there is not read, so the editable install stays unseen.
    (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "bin" / "python"


@pytest.mark.slow
def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    sources = {
        str(Path("shardwright") / path.relative_to(PROJECT / "src" / "shardwright"))
        for path in (PROJECT / "src" / "shardwright").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert {name for name in names if ".dist-info/" not in name} == sources
    assert {Path(name).suffix for name in sources} <= {".py", ".sql", ".typed"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_the_installed_wheel_imports_and_its_command_runs(python: Path, tmp_path: Path) -> None:
    where = run(python, "-c", "import shardwright; print(shardwright.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(python.parents[1])

    told = run(
        python,
        "-c",
        "from shardwright import *; print(__version__, Shards.__name__, encode_short(5))",
        cwd=tmp_path,
    )
    assert told.split()[1:] == ["Shards", "00000000005"]
    assert told.split()[0] in run(
        python, "-c", "from shardwright.cli import main; main()", "version", cwd=tmp_path
    )
    helped = run(python, "-c", "from shardwright.cli import main; main()", "--help", cwd=tmp_path)
    assert "Thousands of logical shards" in helped


@pytest.mark.slow
def test_the_wheel_declares_its_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (entry_points,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]

    assert "shardwright = shardwright.cli:main" in archive.read(entry_points).decode()
