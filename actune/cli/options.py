"""The options that several commands share; those of a run are taken from its spec."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from actune.core.options import Option, Place, command_options, from_command_line
from actune.core.spec import RunSpec

Command = Callable[..., None]


def run_options(
    place: Place, spec: type = RunSpec, defaults: Mapping[str, Any] = MappingProxyType({})
) -> Callable[[Command], Command]:
    """Puts the options that a run has at this place where a command has the parameter `options`.

    `defaults` are those of this command, where they are not those of the spec.
    """

    def decorate(command: Command) -> Command:
        found = command_options(spec, place)
        told = [replace(option, default=defaults.get(option.name, option.default)) for option in found]

        @wraps(command)
        def called(**words: Any) -> None:
            given = {option.name: words.pop(option.name) for option in told}
            command(options=from_command_line(spec, place, given), **words)

        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command, eval_str=True).parameters.values():
            parameters += map(_parameter, told) if parameter.name == "options" else [parameter]
        called.__dict__["__signature__"] = inspect.Signature(parameters)
        called.__annotations__ = {}  # those of the command itself are not those of its options
        return called

    return decorate


def _parameter(option: Option) -> inspect.Parameter:
    """An option as a parameter that Typer understands; None is what the user left out."""
    kind: Any = str if option.parse else option.kind
    default = None if option.from_data or option.from_others or option.default == "" else option.default
    if option.is_argument:
        default = inspect.Parameter.empty
    elif default is None:
        kind = kind | None
    annotated: Any = Annotated
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=annotated[kind, _declaration(option, option.group)],
    )


def _declaration(option: Option, panel: str | None = None) -> Any:
    if option.is_argument:
        return typer.Argument(metavar=option.spelled, help=option.help)
    return typer.Option(option.spelled, metavar=option.metavar, help=option.help, rich_help_panel=panel)


def declared(name: str) -> Any:
    """An option of a run as its spec declares it, for a command that has only a few of them."""
    found = {option.name: option for place in Place for option in command_options(RunSpec, place)}
    return _declaration(found[name])


def given(**options: Any) -> Mapping[str, Any]:
    """The options that the user gave, with paths as text."""
    return {
        name: str(value) if isinstance(value, Path) else value for name, value in options.items() if value is not None
    }


WRITTEN = "a .csv, .tsv, .jsonl, .parquet or .xlsx file"
OUTPUT = f"{WRITTEN}, or - for CSV on standard output"

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run or a project.")]
OwnMethod = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="MODULE:NAME",
        help="The method of this run, if it is your own: code that only the run folder names is not run.",
    ),
]
Device = Annotated[str, declared("device")]
Seed = Annotated[int, declared("seed")]
Text = Annotated[str | None, declared("text")]
Label = Annotated[str | None, declared("label")]
Id = Annotated[str | None, declared("id")]
Encoding = Annotated[str | None, declared("encoding")]
DataDir = Annotated[Path | None, declared("data_dir")]


Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="TOOL",
        help="Write JSON for another labelling tool, label-studio or argilla; by default the suffix of FILE decides.",
    ),
]
ToolConfig = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="With --format: also write the classes as the tool wants them, the labelling configuration of Label "
        "Studio (.xml) or the dataset settings of Argilla (.json).",
    ),
]
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Write CSV cells unchanged; by default, cells that a spreadsheet would run as a formula are escaped.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress and no messages, only results and errors.")]
