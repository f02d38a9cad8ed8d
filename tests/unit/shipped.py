"""The catalogue of this repository's own contracts, opened once for all tests that ask."""

from functools import cache

import generated
from gateway.catalogue import Catalogue, open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.upstream import Upstream


@cache
def catalogue() -> Catalogue:
    """Opened when a test first needs it, and not as tests are collected."""
    return open_catalogue(generated.__name__, HANDLER_PACKAGES)


def upstream(name: str) -> Upstream:
    """The contract of an upstream."""
    return catalogue().upstreams[name]
