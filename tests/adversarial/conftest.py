"""The small gateway of tests/interaction, for attacks on its edge and its transports."""

from tests.interaction.conftest import (
    admin_key,
    connection,
    effect,
    feed,
    greeter_key,
    site,
    socket_site,
    subscriptions,
)

__all__ = [
    "admin_key",
    "connection",
    "effect",
    "feed",
    "greeter_key",
    "site",
    "socket_site",
    "subscriptions",
]
