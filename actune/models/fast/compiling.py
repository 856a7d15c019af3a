"""Functions of many small steps over large arrays: on a GPU they are compiled into a few kernels."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, TypeVar

import torch

Function = TypeVar("Function", bound=Callable[..., Any])
MOST_VERSIONS = 64  # of one function: with and without gradients, dropout, in each precision


def fused(function: Function) -> Function:
    """The function, compiled where its first argument lies on a GPU and this machine can; elsewhere as it is written.

    torch keeps what it compiled on disk, so that the next process begins at once.
    """

    @wraps(function)
    def run(first: torch.Tensor, *rest: Any) -> Any:
        return (_compiled(function) if first.is_cuda and can_compile() else function)(first, *rest)

    return run  # type: ignore[return-value]


def of_any_length(tensor: torch.Tensor | None, *axes: int) -> None:
    """Says that these axes vary, so that one version serves all lengths."""
    if tensor is not None and tensor.is_cuda:
        import torch._dynamo

        for axis in axes:
            torch._dynamo.maybe_mark_dynamic(tensor, axis)


@cache
def can_compile() -> bool:
    """Whether there are Triton and a C compiler, which torch needs to compile for a GPU."""
    from torch.utils._triton import has_triton

    return has_triton() and any(shutil.which(name) for name in ("cc", "gcc", "clang"))


@cache
def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    import torch._dynamo
    from torch._inductor import config

    torch._dynamo.config.recompile_limit = max(MOST_VERSIONS, torch._dynamo.config.recompile_limit)
    if config.cpp.vec_isa_ok is None:
        config.cpp.vec_isa_ok = False  # else processes that try out the CPU come first, for half a minute
    return torch.compile(function)
