"""What the operator says of sources of webhooks: read, refused without being repeated, shown."""

from ipaddress import ip_network
from typing import Any

import msgspec
import pytest

from gateway.contract.webhook import WebhookSetting
from gateway.errors import ConfigurationError
from gateway.settings import Settings, SourceSettings, read_settings, unknown_variables
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import RequestPlace
from tests.unit.tables import each_of
from tests.webhook_sources import ACME as BARE
from tests.webhook_sources import BASIC_SECRET, OLD_SECRET, SECRET

ACME = msgspec.structs.replace(
    BARE,
    settings=(
        WebhookSetting(name="team_email", description="Who is notified.", pattern=".+@.+"),
        WebhookSetting(name="team", description="Their name.", pattern=".+", default="Desk"),
    ),
)
CANARY = "canary-7f3e9a1b5c2d"
SIGNED = "GATEWAY_WEBHOOKS_ACME_SIGNED_SECRETS"
POINTER = "GATEWAY_WEBHOOKS_ACME_POINTER_SECRETS"
ALLOW = "GATEWAY_WEBHOOKS_ACME_ALLOW"
EMAIL = "GATEWAY_WEBHOOKS_ACME_TEAM_EMAIL"


def settings_of(environ: dict[str, str] | None = None, toml: Any = None) -> Settings:
    return read_settings(environ or {}, toml, {})


def acme(environ: dict[str, str] | None = None, toml: Any = None) -> SourceSettings:
    return settings_of(environ, toml).for_webhook(ACME)


def revealed(found: SourceSettings) -> dict[str, list[str]]:
    return {name: [s.reveal() for s in secrets] for name, secrets in found.secrets.items()}


def test_without_secrets_every_profile_is_closed_and_everybody_else_unknown() -> None:
    found = acme()
    assert (found.secrets, found.networks, found.problem) == ({}, None, None)
    assert found.settings == {"team": "Desk"}


def test_the_live_secrets_of_each_profile_are_separated_by_commas() -> None:
    found = acme({SIGNED: f"{SECRET} , {OLD_SECRET}", POINTER: BASIC_SECRET})
    assert revealed(found) == {"signed": [SECRET, OLD_SECRET], "pointer": [BASIC_SECRET]}
    assert found.origins == {"signed_secrets": SIGNED, "pointer_secrets": POINTER}


def test_secrets_may_lie_in_a_file(tmp_path) -> None:
    file = tmp_path / "secrets"
    file.write_text(f"{SECRET},{OLD_SECRET}\n")
    found = acme({f"{SIGNED}_FILE": str(file)})
    assert revealed(found) == {"signed": [SECRET, OLD_SECRET]}
    assert found.origins == {"signed_secrets": f"{SIGNED}_FILE"}


@each_of(
    ("variable", "text", "said"),
    [
        (SIGNED, f"{SECRET},", "must not be empty; a comma separates secrets"),
        (SIGNED, ",", "must not be empty"),
        (SIGNED, ",".join([SECRET + CANARY] * 11), "contains 11 secrets; keep at most 10"),
        (POINTER, CANARY, "<user>:<password>"),
        (POINTER, f"{CANARY}:short", "<user>:<password>"),
        (ALLOW, "192.0.2.1/24", "no host bits"),
        (ALLOW, f"{CANARY}", "networks such as"),
        (ALLOW, ",", "networks such as"),
        (EMAIL, CANARY, "must match"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_fix_and_not_repeated(variable, text, said) -> None:
    found = acme({variable: text})
    assert found.problem is not None
    assert found.problem.startswith(variable)
    assert said in found.problem
    assert CANARY not in found.problem
    assert found.secrets == {}


BRANCHES = msgspec.structs.replace(
    ACME,
    profiles=(msgspec.structs.replace(ACME.profiles[0], tenant=RequestPlace(header="x-shop")),),
)


def test_each_tenant_has_secrets_of_its_own() -> None:
    said = {SIGNED: f"north={SECRET}, south={OLD_SECRET}, north={OLD_SECRET}"}
    found = settings_of(said).for_webhook(BRANCHES)
    assert found.tenants == {"signed": ("north", "south", "north")}
    assert revealed(found) == {"signed": [SECRET, OLD_SECRET, OLD_SECRET]}


@each_of(
    ("text", "said"),
    [
        (CANARY, "write each secret as <tenant>=<secret>"),
        (f"={CANARY}", "write each secret as <tenant>=<secret>"),
        (f"no\x00rth={CANARY}", "1 to 100 printable characters"),
        (f"{'n' * 101}={CANARY}", "1 to 100 printable characters"),
        (f"north/east={CANARY}", "without /, which ends it in ids of messages"),
    ],
)
def test_a_tenant_that_ids_could_not_begin_with_is_refused(text: str, said: str) -> None:
    found = settings_of({SIGNED: text}).for_webhook(BRANCHES)
    assert found.problem is not None
    assert said in found.problem
    assert CANARY not in found.problem


def test_a_setting_that_the_sender_signs_must_be_set() -> None:
    """Without it no message could be authentic, and everything would look open."""
    scheme = HmacSignature(header="x-sign", content=("$settings.team_email", "$request.body"))
    signed = msgspec.structs.replace(ACME.profiles[0], authentication=scheme)
    source = msgspec.structs.replace(ACME, profiles=(signed,))
    assert settings_of({}).for_webhook(source).problem is None
    assert settings_of({SIGNED: SECRET, EMAIL: "a@b"}).for_webhook(source).problem is None
    found = settings_of({SIGNED: SECRET}).for_webhook(source)
    assert found.problem == f"acme signs a setting that is not set; set {EMAIL}: Who is notified."


def test_networks_are_listed_in_cidr_notation() -> None:
    found = acme({ALLOW: "192.0.2.0/24, 2001:db8::/32,203.0.113.9"})
    assert found.networks == (
        ip_network("192.0.2.0/24"),
        ip_network("2001:db8::/32"),
        ip_network("203.0.113.9/32"),
    )


def test_the_toml_file_says_all_of_it_too_and_an_empty_list_admits_nobody(tmp_path) -> None:
    toml = tmp_path / "gateway.toml"
    toml.write_text(
        f'[webhooks.acme]\nsigned_secrets = "{SECRET}"\nallow = []\nteam_email = "a@b"\n'
    )
    found = acme({ALLOW: "192.0.2.0/24"}, toml)
    assert revealed(found) == {"signed": [SECRET]}
    assert found.networks == ()
    assert found.settings == {"team_email": "a@b", "team": "Desk"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[webhooks.acme]\nsigned_secret = 'x'", "did you mean signed_secrets?"),
        ("[webhooks.acme]\nallow = 7", "networks such as"),
        ("[webhooks.acme]\nallow = [7.5]", "networks such as"),
        ("[webhooks.acme]\nsigned_secrets = 7", "must be text"),
        ("[webhooks.acme]\nteam = 7", "must match"),
    ],
)
def test_what_is_wrong_in_the_toml_file_is_the_problem_of_its_source(tmp_path, text, said) -> None:
    toml = tmp_path / "gateway.toml"
    toml.write_text(text)
    assert said in str(acme(toml=toml).problem)


def test_a_table_of_a_source_that_is_not_there_is_refused(tmp_path) -> None:
    toml = tmp_path / "gateway.toml"
    toml.write_text("[webhooks.acne]\nallow = []")
    with pytest.raises(ConfigurationError, match="did you mean acme"):
        settings_of(toml=toml).for_webhooks([ACME])
    toml.write_text("webhooks = 7")
    with pytest.raises(ConfigurationError, match=r"write \[webhooks.<name>\]"):
        settings_of(toml=toml)


def test_rows_show_everything_but_the_secrets() -> None:
    environ = {SIGNED: SECRET, ALLOW: "192.0.2.0/24", EMAIL: "a@b"}
    rows = {row.variable: row for row in settings_of(environ).describe([], [ACME])}
    assert (rows[SIGNED].value, rows[SIGNED].origin) == ("***", SIGNED)
    assert (rows[POINTER].value, rows[POINTER].origin) == ("", "default")
    assert rows[ALLOW].value == "192.0.2.0/24"
    assert (rows[EMAIL].value, rows[EMAIL].description) == ("a@b", "Who is notified.")
    assert SECRET not in repr(rows)


def test_the_secrets_are_known_to_the_log_guard() -> None:
    environ = {SIGNED: f"{SECRET},{OLD_SECRET}", POINTER: BASIC_SECRET}
    guarded = settings_of(environ).secrets([], [ACME])
    assert {SECRET, OLD_SECRET, BASIC_SECRET} <= set(guarded)
    assert SECRET not in repr(settings_of(environ).for_webhook(ACME))


def test_the_variables_of_a_source_are_known() -> None:
    names = [SIGNED, f"{SIGNED}_FILE", POINTER, ALLOW, EMAIL]
    assert unknown_variables(dict.fromkeys(names, "x"), [], [ACME]) == {}
    near = unknown_variables({SIGNED.removesuffix("S"): "x"}, [], [ACME])
    assert near == {SIGNED.removesuffix("S"): f"did you mean {SIGNED}?"}


def test_proxies_are_networks() -> None:
    found = settings_of({"GATEWAY_TRUSTED_PROXIES": "10.0.0.0/8,::1"})
    assert found.proxies() == (ip_network("10.0.0.0/8"), ip_network("::1/128"))
    with pytest.raises(ConfigurationError, match=r"GATEWAY_TRUSTED_PROXIES: .* host bits"):
        settings_of({"GATEWAY_TRUSTED_PROXIES": "10.0.0.1/8"}).proxies()


@pytest.mark.parametrize("given", ["0", "-1", "1.5", "many", "10000000"])
def test_a_rate_that_is_none_is_refused(given: str) -> None:
    found = acme({"GATEWAY_WEBHOOKS_ACME_ADDRESS_RATE": given})
    assert found.problem == (
        "GATEWAY_WEBHOOKS_ACME_ADDRESS_RATE: must be a whole number from 1 to 1000000"
    )


def test_rates_are_those_of_the_contract_unless_they_are_set() -> None:
    assert (acme().rate, acme().address_rate) == (None, None)
    found = acme({"GATEWAY_WEBHOOKS_ACME_RATE": "100", "GATEWAY_WEBHOOKS_ACME_ADDRESS_RATE": "5"})
    assert (found.rate, found.address_rate) == (100, 5)
