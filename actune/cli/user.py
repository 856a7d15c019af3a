"""`actune user`: who may enter a labelling project that several people share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from actune.cli.console import Output
from actune.cli.options import Json, Quiet
from actune.errors import RunFolderError, SettingError

if TYPE_CHECKING:
    from actune.web.accounts import Accounts
    from actune.web.people import Role

user = typer.Typer(
    no_args_is_help=True, help="Add and remove the people who share a labelling project (see `actune label --host`)."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The person's name, as it stands in the log of answers.")]
Project = Annotated[Path, typer.Argument(metavar="PROJECT", help="The folder of the project.")]


@user.command()
def add(
    name: Name,
    project: Project,
    role: Annotated[
        str,
        typer.Option(help="annotator answers questions; owner also changes classes, trains and exports."),
    ] = "annotator",
    token: Annotated[
        bool, typer.Option("--token", help="Print a token for programs, and ask for no password.")
    ] = False,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Add a person, or give one another role or password. The password is asked for and stored as an argon2 hash.

    Example: actune user add anna posts-actune --role annotator
    """
    output, accounts = Output(json, quiet), accounts_of(project)
    accounts.add(name, checked_role(role), None if token else asked_password(password_stdin))
    output.say(f"{name} may enter {project} as {role}")
    facts = {"name": name, "role": role, "project": str(project)}
    output.give(facts | (_printed_token(accounts, name, json) if token else {}))


@user.command()
def token(name: Name, project: Project, json: Json = False, quiet: Quiet = False) -> None:
    """Print a new token for a person's programs; an earlier one stops working.

    Example: actune user token anna posts-actune
    """
    output, accounts = Output(json, quiet), accounts_of(project)
    output.give({"name": name, "project": str(project), **_printed_token(accounts, name, json)})


@user.command()
def remove(name: Name, project: Project, json: Json = False, quiet: Quiet = False) -> None:
    """Remove a person's account; all answers stay.

    Example: actune user remove anna posts-actune
    """
    output = Output(json, quiet)
    accounts_of(project).remove(name)
    output.say(f"{name} may not enter {project} any more; the answers stay")
    output.give({"name": name, "project": str(project)})


@user.command("list")
def list_users(project: Project, json: Json = False, quiet: Quiet = False) -> None:
    """List the people of a project.

    Example: actune user list posts-actune
    """
    output, found = Output(json, quiet), accounts_of(project).all()
    rows = [[name, account.role, "yes" if account.token else ""] for name, account in sorted(found.items())]
    output.show(f"people of {project}", ["name", "role", "token"], rows)
    output.give({"project": str(project), "people": [{"name": name, "role": role} for name, role, _ in rows]})


def accounts_of(project: Path) -> Accounts:
    """The accounts of a folder that is a project."""
    from actune.cli.label import MISSING
    from actune.store.store import FILE

    try:
        import argon2  # noqa: F401

        from actune.web.accounts import Accounts
    except ModuleNotFoundError as error:
        raise SettingError(MISSING.format(name=error.name)) from None
    if not (project / FILE).is_file():
        raise RunFolderError(f"{str(project)!r} is not a project: create it with `actune label` first")
    return Accounts(project)


def checked_role(role: str) -> Role:
    found: dict[str, Role] = {"annotator": "annotator", "owner": "owner"}
    if role in found:
        return found[role]
    raise SettingError(f"--role must be annotator or owner, not {role!r}")


def asked_password(from_stdin: bool) -> str:
    """The password, from a person or from a pipe."""
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    found: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return found


def _printed_token(accounts: Accounts, name: str, as_json: bool) -> dict[str, str]:
    found = accounts.new_token(name)
    if not as_json:
        typer.echo(found)
    return {"token": found}
