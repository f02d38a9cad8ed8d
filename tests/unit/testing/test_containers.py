"""Where Docker answers and nothing else is there, the tests start their servers in containers."""

import importlib
from types import SimpleNamespace

import pytest

from tests import containers, redis_server


@pytest.mark.parametrize("module", [containers.POSTGRES, containers.REDIS])
def test_the_containers_are_where_they_are_looked_for(module):
    """testcontainers warns of an old place, which fails a test."""
    assert importlib.import_module(module)


class Container:
    """Notes what becomes of it."""

    def __init__(self, image):
        self.noted = [image]

    def with_bind_ports(self, inner, outer):
        self.noted.append((inner, outer))
        return self

    def start(self):
        self.noted.append("started")
        return self

    def stop(self):
        self.noted.append("stopped")


@pytest.fixture
def made(monkeypatch):
    """Docker answers, redis-server is not installed; gives the containers."""
    found = []

    def make(image):
        found.append(Container(image))
        return found[-1]

    modules = {
        containers.REDIS: SimpleNamespace(RedisContainer=make),
        "docker.errors": SimpleNamespace(DockerException=OSError),
    }
    monkeypatch.setattr(containers, "docker_answers", lambda: True)
    monkeypatch.setattr(containers.importlib, "import_module", modules.__getitem__)
    monkeypatch.setattr(redis_server.shutil, "which", lambda _: None)
    return found


def test_redis_runs_in_a_container_on_the_same_port_after_each_start(made):
    with redis_server.own_redis() as server:
        server.stop()
        server.start()
        port = int(server.url.rpartition(":")[2].partition("/")[0])
    assert [each.noted[1:] for each in made] == [[(6379, port), "started", "stopped"]] * 2


def test_without_docker_the_test_is_skipped_with_the_reason(made, monkeypatch):
    monkeypatch.setattr(containers, "docker_answers", lambda: False)
    with pytest.raises(pytest.skip.Exception, match="redis-server"), redis_server.own_redis():
        pass
