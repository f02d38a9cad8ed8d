"""The settings by which endpoints are reached and their secrets are sealed."""

from ipaddress import ip_network

import pytest

from gateway.errors import ConfigurationError
from gateway.settings import read_settings

KEYS = (
    "b2xkZXIgb25lcyBvZiB0aGlydHktdHdvIGJ5dGVzIQ==",
    "bmV3ZXIgb25lcyBvZiB0aGlydHktdHdvIGJ5dGVzIQ==",
)


def given(**values):
    return read_settings(
        {f"GATEWAY_{name.upper()}": each for name, each in values.items()}, None, {}
    )


def test_networks_are_read_as_networks():
    settings = given(endpoints_allow="127.0.0.0/8, ::1,10.1.2.3")
    assert settings.endpoint_networks() == (
        ip_network("127.0.0.0/8"),
        ip_network("::1/128"),
        ip_network("10.1.2.3/32"),
    )
    assert given().endpoint_networks() == ()


@pytest.mark.parametrize("text", ["10.1.2.3/8", "1.2.3", "::1/129", "1.2.3.4/33", "localhost"])
def test_what_is_no_network_is_refused_by_the_name_of_its_setting(text):
    with pytest.raises(ConfigurationError, match="GATEWAY_ENDPOINTS_ALLOW: must be networks"):
        given(endpoints_allow=text).endpoint_networks()


def test_no_log_may_hold_a_key_that_seals_alone_or_beside_another():
    settings = given(secrets_key=", ".join(KEYS))
    assert set(settings.secrets()) == set(KEYS)
    shown = {row.name: row.value for row in settings.describe()}
    assert shown["secrets_key"] == "***"
