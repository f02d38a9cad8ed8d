"""`GET /metrics`, in the text format of Prometheus, and `GET /metrics.json`."""

import resource
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from gateway.observability.metrics import CONTENT_TYPE, GatewayMetrics, Reading
from gateway.transports.operator.guard import AnyRequest, OperatorGuard, answer

ReadAll = Callable[[], Awaitable[Sequence[Reading]]]
_MEBIBYTE: Final = 2**20
_STATM: Final = "/proc/self/statm"


class ProcessFigures(Struct, frozen=True, kw_only=True):
    """What this process uses."""

    memory_usage_mb: float
    """Resident memory, in mebibytes."""
    cpu_usage_percent: float
    """Of one core, on average since the start."""


def metrics_routes(
    guard: OperatorGuard, metrics: GatewayMetrics, read_all: ReadAll
) -> list[HTTPRouteHandler]:
    """Both routes. They are for operators: metrics name the tools and how often they are called."""
    started = time.monotonic()

    @get("/metrics", name="metrics")
    async def show_metrics(request: AnyRequest) -> Response[bytes]:
        """All metrics of this process."""
        async with guard.open(request, "metrics.read", is_poll=True):
            text = metrics.text(await read_all())
            return Response(text, media_type=CONTENT_TYPE)

    @get("/metrics.json", name="metrics_json")
    async def show_figures(request: AnyRequest) -> Response[bytes]:
        """The counts and times of calls, as `MCPServerMetrics` of the base server names them."""
        async with guard.open(request, "metrics.figures", is_poll=True):
            figures: dict[str, Any] = msgspec.to_builtins(metrics.calls.figures())
            process = process_figures(time.monotonic() - started)
            figures["active_connections"] = metrics.open_connections
            return answer(figures | msgspec.to_builtins(process))

    return [show_metrics, show_figures]


def process_figures(seconds: float) -> ProcessFigures:
    """The figures of this process, which has run for `seconds`."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent = usage.ru_utime + usage.ru_stime
    return ProcessFigures(
        memory_usage_mb=round(_resident_bytes(usage.ru_maxrss) / _MEBIBYTE, 1),
        cpu_usage_percent=round(spent / max(seconds, 0.001) * 100, 1),
    )


def _resident_bytes(largest: int) -> int:
    """The resident memory. `largest`, its largest value so far, is used where no more is known."""
    try:
        with open(_STATM, encoding="ascii") as statm:  # noqa: PTH123 - a file of the kernel
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        return largest if sys.platform == "darwin" else largest * 1024
