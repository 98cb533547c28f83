"""The options of one link on the command line, made from their definition in `airpath.link_options`."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from airpath.cli.output import tell
from airpath.link_options import LINK, Option, options_of

Command = TypeVar("Command", bound=Callable[..., None])


def takes_link_options(kind: type) -> Callable[[Command], Command]:
    """Return a decorator that gives a command `--link` and the options of a typed dictionary.

    The command takes them as `link` and `**options`. They stand behind its arguments in the help.
    """
    hints = {"link": str | None, **get_type_hints(kind)}
    options = {"link": LINK, **options_of(kind)}

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command)
        own = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, one in signature.parameters.items()
            if name not in ("link", "options")
        ]
        added = [_parameter(name, hints[name], option) for name, option in options.items()]
        arguments = [one for one in own if one.default is inspect.Parameter.empty]
        others = [one for one in own if one.default is not inspect.Parameter.empty]
        # The type checker does not know that typer reads this attribute.
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*arguments, *added, *others]
        )
        return command

    return decorate


def _parameter(name: str, hint: Any, option: Option) -> inspect.Parameter:
    # On the command line every option but a switch or a number is text.
    kind = hint if hint in (bool, int) else str | None
    names = (f"--{name}",) if kind is bool else ()
    declared = typer.Option(*names, help=option.help, metavar=option.metavar, show_default=kind is int)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=Annotated[kind, declared],
    )


def hint_at_bursts(options: Mapping[str, Any]) -> None:
    """Say once that losses of radio links come in bursts, if independent ones were asked for."""
    if (loss := options.get("loss")) and ":" not in loss:
        tell(f"losses are independent; radio loses in bursts: try --loss {loss}:4")
