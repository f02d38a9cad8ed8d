"""All settings, read once from `GATEWAY_*` variables, `gateway.toml` and flags. Flags win."""

from gateway.settings.gathering import WrongSettings, each_wrong
from gateway.settings.known import unknown_variables
from gateway.settings.read import find_toml, read_settings
from gateway.settings.rows import SettingRow
from gateway.settings.secret import Secret
from gateway.settings.settings import Settings
from gateway.settings.upstreams import UpstreamSettings
from gateway.settings.webhooks import SourceSettings

__all__ = [
    "Secret",
    "SettingRow",
    "Settings",
    "SourceSettings",
    "UpstreamSettings",
    "WrongSettings",
    "each_wrong",
    "find_toml",
    "read_settings",
    "unknown_variables",
]
