"""Hatchling build hook: adds the built web app to the wheel; an editable install serves it from the checkout."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WebAppBuildHook(BuildHookInterface[Any]):
    """Hatchling finds it as the one subclass of its interface in this file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add `web/dist` as `tintype/web_dist`."""
        built = Path(self.root) / "web" / "dist"
        if version != "editable" and built.is_dir():
            build_data["force_include"][str(built)] = "tintype/web_dist"
