"""`actune label`: the labelling page on a file of texts."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli.console import Output, counted
from actune.cli.options import Json, Quiet, run_options
from actune.core.options import Place
from actune.core.run_options import RunOptions
from actune.core.spec import PAGE_DISTINCT
from actune.errors import SettingError

if TYPE_CHECKING:
    from actune.web.keys import Keys

MISSING = "the labelling page needs packages that are not installed ({name}): pip install 'actune[web]'"


@run_options(Place.START, defaults={"distinct": PAGE_DISTINCT})
def label(
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of the project; beside the data and named after it by default."),
    ] = None,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", min=0, max=65535, help="The port; that of last time, or a free one by default."),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL", help="An address by which browsers reach this server through a proxy; may be repeated."
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser, which is the default.")
    ] = True,
    training: Annotated[
        bool,
        typer.Option("--training/--no-training", help="Train in the background, which is the default."),
    ] = True,
    api_token: Annotated[bool, typer.Option("--api-token", help="Print the token for other programs.")] = False,
    options: RunOptions,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Label texts on a page in your browser; a model learns in the background.

    The first time this creates a project in a folder beside the data, such as posts-actune; later the same command
    goes on with it. Every answer is saved at once, so you can close the page or the terminal at any time.

    Example: actune label posts.csv --labels praise,complaint,question
    """
    try:
        from actune.web.project import open_or_create
        from actune.web.server import Address, serve
    except ModuleNotFoundError as error:
        raise SettingError(MISSING.format(name=error.name)) from None

    output = Output(json, quiet)
    session, created = open_or_create(out, options)

    def ready(link: str, keys: Keys) -> None:
        what = "created" if created else "opened"
        output.say(
            f"{what} {session.store.folder}: {counted(len(session.pool), 'text')}",
            "open this link in your browser (it works once); Ctrl-C ends the server, and nothing is lost:",
        )
        typer.echo(link, err=json)
        if api_token:
            typer.echo(keys.token, err=json)
        output.give(
            {"folder": str(session.store.folder), "url": link, "created": created, "texts": len(session.pool)}
            | ({"token": keys.token} if api_token else {})
        )
        if browser:
            webbrowser.open(link)

    with session:
        serve(session, Address(host, port, tuple(origin or ())), ready, training)
    output.say(f"stopped; every answer is saved, and the same command goes on with {session.store.folder}")
