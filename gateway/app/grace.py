"""How long calls may take to end."""

from typing import Final

from gateway.amounts import in_seconds
from gateway.catalogue import Catalogue
from gateway.errors import ConfigurationError
from gateway.settings import Settings

_GRACE_BEYOND_TOOLS_SECONDS: Final = 5.0


def grace_seconds(settings: Settings, catalogue: Catalogue) -> float:
    """The grace period for running calls. Raises `ConfigurationError` if a call may need longer."""
    longest = max(catalogue.entries, key=lambda each: each.operation.timeout_seconds, default=None)
    limit = longest.operation.timeout_seconds if longest else 0.0
    given = settings.stop_grace_seconds
    if given is None:
        return limit + _GRACE_BEYOND_TOOLS_SECONDS
    if longest is not None and given < limit:
        origin = settings.origins.get("stop_grace_seconds", "stop_grace_seconds")
        raise ConfigurationError(
            f"{origin}: {longest.id} may take {in_seconds(limit)}, and would be cut off after"
            f" {given:g}; set it to at least {limit:g}"
        )
    return given
