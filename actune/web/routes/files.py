"""What an owner leaves with: the labels as a file, and the models."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.background import BackgroundTask

from actune.core.files import SCRATCH
from actune.data.exchange import SUFFIX, TOOLS, write_configuration, write_records
from actune.data.export import write_table
from actune.session.labelled import ALL_COLUMNS, COLUMNS, Row, all_rows, human_rows, labelled_records, pseudo_rows
from actune.session.session import Session
from actune.web import wire
from actune.web.desk import Desk
from actune.web.keys import FOLDER
from actune.web.people import Owner
from actune.web.refusals import Refused

Format = Literal["csv", "tsv", "jsonl", "parquet", "xlsx", "label-studio", "argilla"]
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "xml": "application/xml",
    "zip": "application/zip",
}


def files(desk: Desk) -> APIRouter:
    """Downloads. Each is made as a file in the project's own folder, and removed when it is sent."""
    router = APIRouter(tags=["files"])
    session = desk.session

    @router.get("/export", response_class=FileResponse)
    def export(
        person: Owner,
        format: Format = "csv",
        pseudo: bool = Query(False, description="Pseudo-labels too; the column `source` says which they are."),
        everything: bool = Query(False, alias="all", description="All texts, also those without a label."),
        raw: bool = Query(False, description="Leave cells as they are that a spreadsheet would run as a formula."),
        config: bool = Query(False, description="The classes alone, as Label Studio or Argilla reads its settings."),
    ) -> Response:
        """The labels, as `actune export` writes them; label-studio and argilla are JSON files for these tools."""
        name = desk.folder.name if format not in TOOLS else f"{desk.folder.name}-{format}"
        if config:
            return configuration(desk, format, f"{name}-classes")
        if format in TOOLS:
            records = labelled_records(session, pseudo, everything)
            return made(desk, f"{name}{SUFFIX}", lambda file: write_records(file, records, format))
        columns, rows = table_of(session, pseudo, everything)
        return made(desk, f"{name}.{format}", lambda file: write_table(file, columns, rows, raw))

    @router.get("/models", response_model=wire.Models)
    def models(person: Owner) -> Response:
        """The models that are kept, the newest first."""
        return JSONResponse({"models": kept_models(desk)})

    @router.get("/models/{name}", response_class=FileResponse)
    def model(name: str, person: Owner) -> Response:
        """One model with all that it needs, as a zip file; unpacked, `actune.load` opens it."""
        if name not in {each["name"] for each in kept_models(desk)}:
            raise Refused(404, "missing", "there is no model of this name: see the list of models")
        file = scratch(desk, "zip")
        command = [sys.executable, "-m", "actune.web.saving", str(desk.folder), name, str(file)]
        environment = {**os.environ, **desk.session.store.environment()}
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL, env=environment
        )
        if done.returncode:
            file.unlink(missing_ok=True)
            sentence = done.stderr.strip() if done.returncode == 2 else "the process that writes the model has failed"
            raise Refused(409, "model", sentence)
        return sent(file, f"{desk.folder.name}-{name}.zip", "zip")

    return router


def table_of(session: Session, pseudo: bool, everything: bool) -> tuple[tuple[str, ...], list[Row]]:
    """The columns and rows of a table of labels."""
    rows = human_rows(session) + (pseudo_rows(session) if pseudo else [])
    return (ALL_COLUMNS, all_rows(session, rows)) if everything else (COLUMNS, rows)


def configuration(desk: Desk, format: Format, name: str) -> Response:
    """What a tool needs to know about the classes."""
    if format not in TOOLS:
        raise Refused(422, "setting", f"the format {format} has no settings: ask for label-studio or argilla")
    desk.session.refresh()
    classes = desk.session.pool.classes
    ending = TOOLS[format].configuration
    return made(desk, f"{name}{ending}", lambda file: write_configuration(file, classes, format))


def made(desk: Desk, name: str, write: Callable[[Path], object]) -> FileResponse:
    """A file that is written now, sent under this name and then removed."""
    ending = name.rpartition(".")[2]
    file = scratch(desk, ending)
    try:
        write(file)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return sent(file, name, ending)


def kept_models(desk: Desk) -> list[dict[str, Any]]:
    """The models of the project, by the names of their folders."""
    store = desk.session.store
    rounds, finals, newest = store.rounds(), store.finals(), store.newest_row()
    found = []
    for model in reversed(store.models()):
        final = model.kind == "final"
        facts = next((each for each in (finals if final else rounds) if each.round == model.round), None)
        folder = desk.folder / model.folder
        found.append(
            {
                "name": folder.name,
                "round": model.round,
                "final": final,
                "newest": newest is not None and newest.folder == model.folder,
                "labels": facts.labels if facts else None,
                "accuracy": facts.accuracy if facts else None,
                "bytes": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
            }
        )
    return found


def scratch(desk: Desk, ending: str) -> Path:
    """A name for a file that is sent and then removed; what a killed server left is removed at the next start."""
    return desk.folder / FOLDER / f".{token_hex(8)}{SCRATCH}.{ending}"


def sent(file: Path, name: str, kind: str) -> FileResponse:
    """A file as a download, which is gone afterwards."""
    return FileResponse(file, media_type=KINDS[kind], filename=name, background=BackgroundTask(file.unlink, True))
