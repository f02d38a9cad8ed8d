"""The page about settings says what the code says."""

from pathlib import Path

import pytest

from gateway.settings.declared import SETTINGS
from gateway.settings.reference import render_reference

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"


def test_the_page_is_what_the_settings_say() -> None:
    """Mend with: `python -m gateway.settings.reference > docs/reference/settings.md`."""
    assert PAGE.read_text("utf-8") == render_reference()


@pytest.mark.parametrize("key", SETTINGS)
def test_every_setting_is_documented(key) -> None:
    assert f"| `{key}` | `GATEWAY_{key.upper()}` |" in PAGE.read_text("utf-8")
