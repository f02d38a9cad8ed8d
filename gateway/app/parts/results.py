"""Shares results of reads between the processes of one PostgreSQL and one Redis."""

import logging
import socket
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import AsyncExitStack
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit

from gateway.app.parts.carried import likeness
from gateway.calls.caching.shared import SharedResults
from gateway.catalogue import Catalogue
from gateway.clock import Clock
from gateway.contract.operation import Effect, Operation
from gateway.settings import Secret, Settings
from gateway.store.results.board import ResultBoard
from gateway.store.sql.engines import POSTGRES_PREFIXES

_log: Final = logging.getLogger(__name__)
_MARGIN_SECONDS: Final = 5.0


def changing(catalogue: Catalogue) -> dict[str, float]:
    """The connectors with tools that write, each with the longest time limit of these tools."""
    found: dict[str, float] = defaultdict(float)
    for each in catalogue.entries:
        if _writes(each.operation):
            connector, seconds = each.operation.connector, each.operation.timeout_seconds
            found[connector] = max(found[connector], seconds)
    return dict(found)


def _writes(operation: Operation) -> bool:
    return operation.effect is not Effect.READ or operation.escalation is not None


def open_results(
    settings: Settings, catalogue: Catalogue, clock: Clock, stack: AsyncExitStack
) -> SharedResults | None:
    """None without a Redis, without results to keep, or on SQLite, which has one process."""
    kept = {each.operation.connector for each in catalogue.entries if each.operation.cache_seconds}
    if (
        settings.redis_url is None
        or not kept
        or not settings.database.startswith(POSTGRES_PREFIXES)
    ):
        return None
    # A write takes its time limit at most. It may happen for the same time after it was given up.
    settling = {
        connector: 2 * seconds + _MARGIN_SECONDS
        for connector, seconds in changing(catalogue).items()
        if connector in kept
    }
    shared = SharedResults(
        _board(settings.redis_url, settling),
        clock,
        _secret(settings, catalogue),
        announced=settling,
        homes=_homes(settings, catalogue),
    )
    stack.push_async_callback(shared.close)
    return shared


def _homes(settings: Settings, catalogue: Catalogue) -> Mapping[str, str]:
    """Mocks, and workspaces on SQLite, are those of one data folder on one machine."""
    home = f"{socket.gethostname()}:{settings.data.resolve()}"
    is_common = settings.workspace.startswith(POSTGRES_PREFIXES)
    shared = {"live", "workspace"} if is_common else {"live"}
    found = map(settings.for_upstream, catalogue.upstreams.values())
    return {each.name: home for each in found if each.backend not in shared}


def _secret(settings: Settings, catalogue: Catalogue) -> bytes | None:
    """Equal in processes that would make the same results: of the same contracts, upstreams and
    databases. Without the passwords among them, nobody can make it. None: there are none."""
    if not _has_secrets(settings, catalogue):
        _log.warning(
            "results are not shared with other processes: anybody could guess the secret that "
            "seals them. Set GATEWAY_SECRETS_KEY, or a password in GATEWAY_DATABASE_URL"
        )
        return None
    found = sha256(version("contract-gateway").encode())
    found.update(f" {settings.database} {settings.workspace} {settings.seed}".encode())
    if settings.secrets_key is not None:
        found.update(settings.secrets_key.reveal().encode())
    for upstream in sorted(catalogue.upstreams.values(), key=lambda each: each.name):
        found.update(likeness(settings.for_upstream(upstream)))
    for path, text in _sources((settings.package, *settings.handler_packages)):
        found.update(b"\0%b\0%d\0" % (path.encode(), len(text)) + text)
    return found.digest()


def _has_secrets(settings: Settings, catalogue: Catalogue) -> bool:
    """Whether something that goes into the secret is one."""
    urls = map(urlsplit, (settings.database, settings.workspace))
    passwords = [each.password or parse_qs(each.query).get("password") for each in urls]
    upstreams = map(settings.for_upstream, catalogue.upstreams.values())
    credentials = [secret for each in upstreams for secret in each.credentials.values()]
    return settings.secrets_key is not None or any(passwords) or bool(credentials)


def _sources(packages: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The files of which contracts and handlers are made, by their paths in the packages."""
    for package in packages:
        for place in _places(package):
            files = sorted(place.rglob("*")) if place.is_dir() else [place]
            for path in files:
                if path.is_file() and "__pycache__" not in path.parts:
                    yield f"{package}/{path.relative_to(place).as_posix()}", path.read_bytes()


def _places(package: str) -> list[Path]:
    """The folders of a package, or the file of a module. A project may not have it."""
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        return []
    folders = spec.submodule_search_locations
    return [Path(each) for each in ([spec.origin or ""] if folders is None else folders)]


def _board(url: Secret, settling: Mapping[str, float]) -> ResultBoard:
    from gateway.store.results.in_redis import (  # noqa: PLC0415 - needs an optional package
        RedisResults,
    )

    return RedisResults(url.reveal(), settling)
