"""Servers in containers, where Docker answers. testcontainers removes them when the tests end."""

import importlib
import shutil
import subprocess
from functools import cache
from typing import Any, Final

from tests.eventually import PATIENCE_SECONDS

POSTGRES: Final = "testcontainers.community.postgres"
REDIS: Final = "testcontainers.community.redis"
_POSTGRES_IMAGE: Final = "postgres:17-alpine"
_REDIS_IMAGE: Final = "redis:8-alpine"


def postgres_url() -> str | None:
    """The URL of a new server. None without Docker, or where the image is not to be had."""
    found = _started(lambda: _class(POSTGRES, "PostgresContainer")(_POSTGRES_IMAGE))
    return None if found is None else str(found.get_connection_url(driver=None))


def redis_at(port: int) -> Any:
    """A new server on this port, with a method `stop`. None as above."""
    return _started(
        lambda: _class(REDIS, "RedisContainer")(_REDIS_IMAGE).with_bind_ports(6379, port)
    )


def _started(make: Any) -> Any:
    if not docker_answers():
        return None
    failed = importlib.import_module("docker.errors").DockerException
    try:
        return make().start()
    except failed:
        return None


def _class(module: str, name: str) -> Any:
    # Loaded only where Docker answers.
    return getattr(importlib.import_module(module), name)


@cache
def docker_answers() -> bool:
    """Whether containers can be started."""
    if shutil.which("docker") is None:
        return False
    command = ["docker", "info"]
    asked = subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE_SECONDS)
    return asked.returncode == 0
