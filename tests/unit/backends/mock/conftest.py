"""A mock of the shelter."""

import pytest

from tests.shelter import OPERATIONS, Send, connector, opened, sender


@pytest.fixture
def send() -> Send:
    """Sends requests to a mock of the shelter."""
    return sender(opened(connector(*OPERATIONS)))
