"""What commands share that write files for other labelling tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from actune.errors import SettingError

if TYPE_CHECKING:
    from actune.data.records import Record


def check_format(to: Path | None, format: str | None, config: Path | None) -> None:
    """Refuses wrong words before any work is done."""
    from actune.data.exchange import check_records_target

    if format is None:
        raise SettingError("--config needs a tool: add --format label-studio or --format argilla")
    if to is None:
        raise SettingError(f"--format {format} needs a file: add --to FILE.json")
    check_records_target(to, format, config)


def write_for_tool(
    to: Path, records: Sequence[Record], format: str, config: Path | None, classes: Sequence[str]
) -> None:
    """The records, and the classes where a file for them is named."""
    from actune.data.exchange import write_configuration, write_records

    if config is not None:
        write_configuration(config, classes, format)
    write_records(to, records, format)
