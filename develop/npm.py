"""Runs npm in `web/` with the Node that `./tintype` finds, so that no system Node is needed."""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Replace this process by npm."""
    loader = importlib.machinery.SourceFileLoader("bootstrap", str(CHECKOUT / "tintype"))
    spec = importlib.util.spec_from_loader("bootstrap", loader)
    if spec is None:
        raise SystemExit("the ./tintype script is missing")
    bootstrap = importlib.util.module_from_spec(spec)
    loader.exec_module(bootstrap)
    node, npm = bootstrap.find_node()
    os.environ["PATH"] = f"{Path(node).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    os.chdir(CHECKOUT / "web")
    os.execv(node, [node, npm, *sys.argv[1:]])  # noqa: S606 - absolute path, our own arguments


if __name__ == "__main__":
    main()
