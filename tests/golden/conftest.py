"""Golden tests compare generated text with text that somebody read and committed."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="accept what is generated now: read the diff before you commit it",
    )


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether to write the expected files instead of comparing with them."""
    return bool(request.config.getoption("--update-golden"))
