"""The contracts of this repository, read when a test first asks for them."""

from functools import cache

from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.upstream import Upstream


@cache
def catalogue() -> Catalogue:
    return open_catalogue("generated", HANDLER_PACKAGES)


def upstream(name: str) -> Upstream:
    return catalogue().upstreams[name]
