"""Groups of commands whose `start` may be left out: `move s0042 --to b` is `move start s0042 --to b`."""

from typing import Any

from typer.core import TyperGroup


class StartByDefault(TyperGroup):
    """Adds `start` where no command of the group is named."""

    def parse_args(
        self, ctx: Any, args: list[str]
    ) -> list[str]:  # a class of click, or of typer's own copy of it
        """Add the command that may be left out."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["start", *args]
        return super().parse_args(ctx, args)
