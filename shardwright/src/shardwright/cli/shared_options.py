"""Options that several commands have in common: the fields of a dataclass, which a command gets as one object."""

import functools
import inspect
from collections.abc import Callable
from typing import Any


def with_options(kind: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace a command's first parameter, an object of this class, by the class's own parameters.

    The command keeps its other parameters; typer sees all of them.
    """
    shared = inspect.signature(kind, eval_str=True).parameters

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def with_shared(**values: Any) -> None:
            command(kind(**{name: values.pop(name) for name in shared}), **values)

        own = list(inspect.signature(command).parameters.values())[1:]
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in [*own, *shared.values()]]
        # What typer reads; functools.wraps has copied the command's own.
        vars(with_shared)["__signature__"] = inspect.Signature(parameters)
        with_shared.__annotations__ = {each.name: each.annotation for each in parameters}
        return with_shared

    return decorate
