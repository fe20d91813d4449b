"""Both wheels build, install into an empty environment and start."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    for project in (CHECKOUT / "shardwright", CHECKOUT):
        command = [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            str(folder),
            str(project),
        ]
        subprocess.run(command, check=True, capture_output=True)
    return {each.name.split("-")[0]: each for each in folder.glob("*.whl")}


@pytest.mark.slow
def test_the_wheels_hold_what_they_need_and_no_tests(wheels: dict[str, Path]) -> None:
    tintype = set(zipfile.ZipFile(wheels["tintype"]).namelist())
    shardwright = set(zipfile.ZipFile(wheels["shardwright"]).namelist())

    assert "tintype/schema/migrations/server/0001_outbox.sql" in tintype
    assert "tintype/posts/queries.sql" in tintype
    assert "tintype/web_dist/index.html" in tintype
    assert "shardwright/py.typed" in shardwright
    assert not [name for name in tintype | shardwright if name.startswith(("tests/", "bench/", "develop/"))]


@pytest.mark.slow
def test_the_wheels_install_into_an_empty_environment_and_start(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    packages = next((tmp_path / "venv" / "lib").glob("python*/site-packages"))
    for wheel in wheels.values():
        zipfile.ZipFile(wheel).extractall(packages)
    _lend_dependencies(packages)

    answer = subprocess.run(
        [str(tmp_path / "venv" / "bin" / "python"), "-m", "tintype", "openapi"],
        cwd=tmp_path,
        env={"PATH": os.defpath, "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 0, answer.stderr
    assert '"title": "Tintype"' in answer.stdout


def _lend_dependencies(packages: Path) -> None:
    """Third-party packages come from the environment of the tests; ours must come from the wheels."""
    for folder in (Path(each) for each in sys.path if each.endswith("site-packages")):
        for each in folder.iterdir():
            is_ours = each.name.startswith(
                ("tintype", "shardwright", "_editable", "__editable", "_tintype", "_shardwright")
            )
            if not is_ours and each.suffix != ".pth" and not (packages / each.name).exists():
                (packages / each.name).symlink_to(each)
