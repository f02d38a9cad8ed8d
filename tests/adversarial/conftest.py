"""The small gateway of tests/interaction, for attacks on its edge and its transports."""

from tests.interaction.conftest import (
    _made_once,
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
    "_made_once",
    "admin_key",
    "connection",
    "effect",
    "feed",
    "greeter_key",
    "site",
    "socket_site",
    "subscriptions",
]
