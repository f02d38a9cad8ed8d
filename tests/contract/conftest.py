"""What the contract suite cannot know about the tools and webhooks of this catalogue."""

import pytest

FALLBACKS = {"frankfurter.convert_currency": ("rate_source", "fallback")}
"""Tools that answer without their upstream, and the member of the result that says so."""
ADMITTED = {("avinode.search_flights", "403")}
"""What is an answer and no failure: a search that the account may not run finds nothing, and says
so (tests/unit/connectors/avinode/test_tools.py)."""


@pytest.fixture(scope="session")
def gateway_may_answer():
    """No other tool answers if its upstream fails, whether it has a Python handler or not."""
    return lambda tool, case: tool in FALLBACKS or (tool, case) in ADMITTED


@pytest.fixture(scope="session")
def gateway_webhook_settings():
    """With an address, the messages of Avinode send mails."""
    return {"avinode": {"notification_email": "desk@example.com"}}
