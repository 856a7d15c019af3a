"""Which number format the products of a network use, by device."""

from __future__ import annotations

import torch


def for_training(device: torch.device) -> torch.autocast:
    """bfloat16 on a GPU and on a CPU that multiplies it natively (twice as fast there); float32 elsewhere."""
    return _bfloat16(device, device.type == "cuda" or _native_bfloat16())


def for_reading(device: torch.device) -> torch.autocast:
    """bfloat16 on a GPU; float32 on a CPU, where a readout must not depend on its batch."""
    return _bfloat16(device, device.type == "cuda")


def name(device: torch.device) -> str:
    """What training uses here, for the run's record: it decides the last bits of a result."""
    return "bfloat16" if device.type == "cuda" or _native_bfloat16() else "float32"


def _bfloat16(device: torch.device, enabled: bool) -> torch.autocast:
    # casts are not cached: a recorded step must hold its own
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled, cache_enabled=False)


def _native_bfloat16() -> bool:
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(supported and supported())
