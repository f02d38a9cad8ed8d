"""Settings of endpoints and of imported credentials: complete, safe and named in every error."""

from ipaddress import ip_network

import pytest

from gateway.contract.slots import CredentialSlot, filling_all
from gateway.contract.upstream import CredentialRule, SettingRule, Upstream
from gateway.errors import ConfigurationError
from gateway.settings import read_settings
from gateway.settings.declared import upstream_rows
from gateway.settings.upstreams import log_secrets
from tests.client_certificates import make_certificates
from tests.unit.tables import each_of

SERVICE = CredentialSlot(
    name="service", kind="oauth2", flow="client_credentials", token_url="https://id.example/t"
)
LOGIN = CredentialSlot(name="login", kind="oauth2")
BASIC = CredentialSlot(name="basic", kind="basic")
TLS = CredentialSlot(name="tls", kind="mutual_tls")
SLOTS = (SERVICE, LOGIN, BASIC, TLS)


def rules():
    for slot in SLOTS:
        kind = "pem" if slot.kind == "mutual_tls" else "text"
        for name in slot.settings:
            yield CredentialRule(name=name, description="", is_required=False, kind=kind)


PETS = Upstream(
    name="pets",
    title="Pets",
    base_url="https://pets.example",
    credentials=tuple(rules()),
    slots=SLOTS,
    settings=tuple(
        SettingRule(
            name=f"{slot.name}_token_url",
            description="",
            default=slot.token_url or "",
            mock="",
            pattern="https?://.+",
        )
        for slot in (SERVICE, LOGIN)
    ),
)


@pytest.fixture
def read():
    """The settings of the upstream with these variables, named without their prefix."""

    def _read(**variables):
        environ = {f"GATEWAY_PETS_{name}": value for name, value in variables.items()}
        return read_settings(environ, None, {}).for_upstream(PETS)

    return _read


def test_a_complete_client_is_live_with_the_url_of_the_document(read):
    found = read(SERVICE_CLIENT_ID="i", SERVICE_CLIENT_SECRET="s")
    assert (found.backend, found.problems) == ("live", ())
    assert found.settings["service_token_url"] == "https://id.example/t"


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({"SERVICE_CLIENT_ID": "i"}, "SERVICE_CLIENT_SECRET"),
        ({"LOGIN_REFRESH_TOKEN": "r", "LOGIN_CLIENT_ID": "i"}, "LOGIN_CLIENT_SECRET"),
        ({"BASIC_USERNAME": "ada"}, "BASIC_PASSWORD"),
        ({"TLS_KEY": "-----BEGIN PRIVATE KEY-----"}, "TLS_CERTIFICATE"),
        ({"LOGIN_CLIENT_ID": "i", "LOGIN_CLIENT_SECRET": "s"}, "LOGIN_TOKEN_URL"),
    ],
)
def test_what_is_missing_is_named_and_no_value_is_shown(read, given, missing):
    found = read(**{name: f"canary{value}" for name, value in given.items()})
    assert f"GATEWAY_PETS_{missing}" in found.problem
    assert "canary" not in found.problem


def test_an_access_token_and_a_client_are_not_both_used(read):
    found = read(SERVICE="t", SERVICE_CLIENT_ID="i", SERVICE_CLIENT_SECRET="s")
    assert "GATEWAY_PETS_SERVICE and GATEWAY_PETS_SERVICE_CLIENT_ID are both set" in found.problem


@pytest.mark.parametrize(
    "url", ["http://id.example/t", "https://u:p@id.example/t", "https://169.254.169.254/t"]
)
def test_secrets_are_sent_to_a_safe_address_only(read, url):
    client = {"LOGIN_CLIENT_ID": "i", "LOGIN_CLIENT_SECRET": "s"}
    assert "GATEWAY_PETS_LOGIN_TOKEN_URL" in read(**client, LOGIN_TOKEN_URL=url).problem
    assert read(**client, LOGIN_TOKEN_URL="https://id.example/t").problem is None


def test_a_certificate_is_read_from_its_files(read, tmp_path):
    make_certificates(tmp_path)
    paths = {"TLS_CERTIFICATE_FILE": "client.pem", "TLS_KEY_FILE": "client.key"}
    given = {name: str(tmp_path / path) for name, path in paths.items()}
    assert read(**given).problem is None
    wrong = given | {"TLS_KEY_FILE": str(tmp_path / "other.key")}
    problem = read(**wrong).problem
    assert "GATEWAY_PETS_TLS_CERTIFICATE_FILE and GATEWAY_PETS_TLS_KEY_FILE: do not be" in problem
    assert "GATEWAY_PETS_BASE_URL" in read(**given, BASE_URL="http://127.0.0.1:1").problem
    swapped = given | {"TLS_CERTIFICATE_FILE": str(tmp_path / "client.key")}
    assert "are not a certificate" in read(**swapped).problem


def test_each_line_of_a_private_key_is_a_secret_of_the_log(read, tmp_path):
    make_certificates(tmp_path)
    key = (tmp_path / "client.key").read_text()
    found = read(TLS_CERTIFICATE=(tmp_path / "client.pem").read_text(), TLS_KEY=key)
    hidden = set(log_secrets(found.credentials["tls_key"]))
    assert {key.splitlines()[1], key.splitlines()[2]} <= hidden
    assert not any(text.strip("-") == "BEGIN PRIVATE KEY" for text in hidden)


def test_rows_hide_secrets_and_show_addresses(read):
    found = read(SERVICE_CLIENT_ID="i-1", SERVICE_CLIENT_SECRET="s-1")
    rows = {row.variable: row.value for row in upstream_rows(PETS, found)}
    assert rows["GATEWAY_PETS_SERVICE_CLIENT_SECRET"] == "***"
    assert rows["GATEWAY_PETS_SERVICE_TOKEN_URL"] == "https://id.example/t"


def test_settings_are_named_as_a_choice():
    assert filling_all("pets", [BASIC, SERVICE]) == (
        "(GATEWAY_PETS_BASIC_USERNAME with GATEWAY_PETS_BASIC_PASSWORD) and (GATEWAY_PETS_SERVICE, "
        "or GATEWAY_PETS_SERVICE_CLIENT_ID with GATEWAY_PETS_SERVICE_CLIENT_SECRET)"
    )


def test_rows_of_a_mock_show_the_address_that_would_be_called(read):
    rows = {row.variable: row for row in upstream_rows(PETS, read())}
    assert rows["GATEWAY_BACKEND_PETS"].value == "mock"
    base = rows["GATEWAY_PETS_BASE_URL"]
    assert (base.value, base.origin) == ("https://pets.example", "default")


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


def upstream(name, *credentials):
    rules = tuple(CredentialRule(name=each, description="A key.") for each in credentials)
    return Upstream(name=name, title=name.title(), base_url="https://a.test", credentials=rules)


@each_of(
    ("upstreams", "variable"),
    [
        ([upstream("bootstrap", "key")], "GATEWAY_BOOTSTRAP_KEY"),
        ([upstream("secrets", "key")], "GATEWAY_SECRETS_KEY"),
        ([upstream("database", "url")], "GATEWAY_DATABASE_URL"),
        ([upstream("bootstrap", "key_file")], "GATEWAY_BOOTSTRAP_KEY_FILE"),
        ([upstream("a", "b_key"), upstream("a_b", "key")], "GATEWAY_A_B_KEY"),
        ([upstream("kf", "key", "key_file")], "GATEWAY_KF_KEY_FILE"),
        ([upstream("a"), upstream("backend", "a")], "GATEWAY_BACKEND_A"),
    ],
)
def test_a_variable_of_two_settings_is_refused(upstreams, variable):
    with pytest.raises(ConfigurationError, match=variable):
        read_settings({}, None, {}).for_upstreams(upstreams)


def test_other_upstreams_are_read():
    found = read_settings({}, None, {}).for_upstreams([upstream("a", "key"), upstream("b", "key")])
    assert [*found] == ["a", "b"]
