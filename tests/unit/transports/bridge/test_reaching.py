"""Which proxy of the environment a client of a gateway uses."""

import ssl

import pytest

from gateway.errors import ConfigurationError
from gateway.transports.bridge.remote import client_options

PROXY = "http://proxy.example.com:3128"
NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("url", "variables", "proxy"),
    [
        ("https://gateway.example.com/mcp", {}, None),
        ("https://gateway.example.com/mcp", {"HTTPS_PROXY": PROXY}, PROXY),
        ("https://gateway.example.com", {"https_proxy": "proxy.example.com:3128"}, PROXY),
        ("https://gateway.example.com", {"ALL_PROXY": PROXY}, PROXY),
        ("https://gateway.example.com", {"HTTP_PROXY": PROXY}, None),
        ("https://gateway.example.com", {"HTTPS_PROXY": PROXY, "NO_PROXY": ".example.com"}, None),
        ("https://gateway.example.com", {"HTTPS_PROXY": PROXY, "NO_PROXY": "*"}, None),
        ("http://gateway.example.com", {"HTTP_PROXY": PROXY, "ALL_PROXY": PROXY}, None),
        *(
            (f"https://{host}:8700/mcp", {"HTTPS_PROXY": PROXY, "ALL_PROXY": PROXY}, None)
            for host in (
                "127.0.0.1",
                "127.8.8.8",
                "localhost",
                "LocalHost.",
                "a.localhost",
                "[::1]",
                "[::ffff:127.0.0.1]",
            )
        ),
        ("https://localhost.example.com", {"HTTPS_PROXY": PROXY}, PROXY),
    ],
)
def test_a_proxy_tunnels_what_is_encrypted_and_leaves_this_machine(
    monkeypatch: pytest.MonkeyPatch, url: str, variables: dict[str, str], proxy: str | None
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    options = client_options(url, "key")
    assert (options["proxy"], options["trust_env"]) == (proxy, False)
    assert options["headers"] == {"authorization": "Bearer key"}


@pytest.mark.parametrize("proxy", ["socks5://proxy.example.com:1080", "ftp://proxy.example.com"])
def test_another_kind_of_proxy_is_refused(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ConfigurationError, match="not a proxy for HTTP"):
        client_options("https://gateway.example.com", None)


def test_certificates_are_checked() -> None:
    for url in ("https://gateway.example.com", "http://gateway.example.com"):
        context = client_options(url, None)["verify"]
        assert context.check_hostname
        assert context.verify_mode is ssl.CERT_REQUIRED


def test_without_a_key_none_is_shown() -> None:
    assert client_options("http://127.0.0.1", None)["headers"] == {}
