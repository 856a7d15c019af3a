"""What an owner leaves with: the labels as a file, and the models."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, JSONResponse, Response
from starlette.background import BackgroundTask

from actune.core.files import SCRATCH
from actune.data.export import write_table
from actune.session.labelled import COLUMNS, human_rows, pseudo_rows
from actune.web import wire
from actune.web.desk import Desk
from actune.web.keys import FOLDER
from actune.web.people import Owner
from actune.web.refusals import Refused

Format = Literal["csv", "tsv", "jsonl", "parquet", "xlsx"]
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
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
        raw: bool = Query(False, description="Leave cells as they are that a spreadsheet would run as a formula."),
    ) -> Response:
        """The labels, as `actune export` writes them."""
        rows = human_rows(session) + (pseudo_rows(session) if pseudo else [])
        file = scratch(desk, format)
        try:
            write_table(file, COLUMNS, rows, raw)
        except BaseException:
            file.unlink(missing_ok=True)
            raise
        return sent(file, f"{desk.folder.name}.{format}", format)

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
