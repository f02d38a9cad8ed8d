"""What operators' probes are told."""

import logging
from typing import Final, Literal

from gateway.assembly import Parts
from gateway.errors import StoreError
from gateway.transports.operations import Readiness, UpstreamState

_log: Final = logging.getLogger(__name__)


async def readiness_of(parts: Parts) -> Readiness:
    """Whether calls can be served and recorded. Anybody may ask, so no detail is told."""
    problems = ["Audit records cannot be stored."] if parts.audit.problem else []
    try:
        await parts.store.audit.latest(1)
    except StoreError as error:
        _log.error("the store cannot be read: %s", error.detail)
        problems.append("The store cannot be read.")
    store: Literal["ok", "failed"] = "failed" if problems else "ok"
    upstreams = {
        name: UpstreamState(
            backend=line.backend_name,
            problem=await _workspace_problem(parts, name) or line.backend.problem,
        )
        for name, line in parts.lines.items()
    }
    problems += [f"{name}: {u.problem}" for name, u in upstreams.items() if u.problem]
    return Readiness(store=store, upstreams=upstreams, problems=tuple(problems))


async def _workspace_problem(parts: Parts, upstream: str) -> str | None:
    workspace = parts.workspaces.get(upstream)
    try:
        if workspace is not None:
            await workspace.check()
    except StoreError as error:
        _log.error("the workspace cannot be used: %s", error.detail)
        return "The workspace database cannot be used."
    return None
