"""The options of one link on the command line, made from `airpath.links.options.OneLink`."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from airpath.cli.output import tell
from airpath.links.options import Comparison, OneLink, Option, options_of

Command = TypeVar("Command", bound=Callable[..., None])


def takes_link_options(kind: type[OneLink]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command the fields of a class as options.

    The command receives them as `link` and `**options`. They follow its arguments in the help.
    """
    hints, options = get_type_hints(kind), options_of(kind)
    defaults = {one.name: one.default for one in fields(kind)}

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command)
        own = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, one in signature.parameters.items()
            if name not in ("link", "options")
        ]
        added = [_parameter(name, hints[name], option, defaults[name]) for name, option in options.items()]
        arguments = [one for one in own if one.default is inspect.Parameter.empty]
        others = [one for one in own if one.default is not inspect.Parameter.empty]
        # The type checker does not know that typer reads this attribute.
        command.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*arguments, *added, *others]
        )
        return command

    return decorate


def _parameter(name: str, hint: Any, option: Option, default: Any) -> inspect.Parameter:
    # On the command line every option except switches and numbers is text.
    kind = hint if hint in (bool, int) else str | None
    names = (f"--{name}",) if kind is bool else ()
    declared = typer.Option(*names, help=option.help, metavar=option.metavar, show_default=kind is int)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, declared],
    )


def option_of_runs(name: str) -> Any:
    """Return the declaration of an option that a field of `Comparison` documents."""
    return typer.Option(help=options_of(Comparison)[name].help)


def hint_at_bursts(link: OneLink) -> None:
    """Print a note that losses of radio links come in bursts, if independent losses are requested."""
    if link.loss and ":" not in str(link.loss):
        tell(f"losses are independent; radio loses in bursts: try --loss {link.loss}:4")
