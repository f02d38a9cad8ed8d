"""All settings, read once from `GATEWAY_*` variables, `gateway.toml` and flags. Flags win."""

from gateway.settings.declared import SettingRow, unknown_variables
from gateway.settings.settings import Settings, find_toml, read_settings
from gateway.settings.sources import Secret, WrongSettings, each_wrong
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
