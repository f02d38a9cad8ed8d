"""Which backend an upstream gets, and what is said of half a configuration."""

import pytest
from msgspec import structs

from gateway.contract.upstream import CredentialRule, Upstream
from gateway.errors import ConfigurationError
from gateway.settings import read_settings, unknown_variables
from tests.unit import shipped
from tests.unit.tables import each_of

CANARY = "canary-7f3e9a1b5c2d"
AVINODE = Upstream(
    name="avinode",
    title="Avinode",
    base_url=None,
    credentials=(
        CredentialRule(name="api_token", description="Application token."),
        CredentialRule(name="access_token", description="JWT."),
        CredentialRule(name="act_as_account", description="Account.", is_required=False),
    ),
)
TOKENS = {"GATEWAY_AVINODE_API_TOKEN": CANARY, "GATEWAY_AVINODE_ACCESS_TOKEN": CANARY}
ANYWHERE = "0.0.0.0"  # noqa: S104 - a setting that is read, and nothing listens
URL = {"GATEWAY_AVINODE_BASE_URL": "https://api.example.com/v1/"}


def upstream(environ, toml_path=None, contract=AVINODE):
    return read_settings(environ, toml_path, {}).for_upstream(contract)


def test_without_credentials_it_is_a_mock() -> None:
    found = upstream(URL)

    assert (found.backend, found.problem, dict(found.credentials)) == ("mock", None, {})
    assert "GATEWAY_BACKEND_AVINODE=live" in found.reason


def test_with_mock_credentials_it_is_a_mock_of_the_account_that_they_name() -> None:
    found = upstream(
        {"GATEWAY_AVINODE_API_TOKEN": "mock_1", "GATEWAY_AVINODE_ACCESS_TOKEN": "mock_broker"}
    )

    assert (found.backend, found.problem) == ("mock", None)
    assert {name: s.reveal() for name, s in found.credentials.items()} == {
        "api_token": "mock_1",
        "access_token": "mock_broker",
    }


IN_PRODUCTION = {"GATEWAY_ENVIRONMENT": "production"}
MOCKED = {"GATEWAY_AVINODE_API_TOKEN": "mock_1", "GATEWAY_AVINODE_ACCESS_TOKEN": "mock_broker"}


@each_of(
    ("given", "why"),
    [
        ({}, "none of GATEWAY_AVINODE_API_TOKEN, GATEWAY_AVINODE_ACCESS_TOKEN"),
        (MOCKED, "GATEWAY_AVINODE_API_TOKEN starts with mock_"),
    ],
)
def test_in_production_no_mock_answers_unasked(given: dict[str, str], why: str) -> None:
    found = upstream({**IN_PRODUCTION, **given})

    assert found.problem is not None
    assert found.problem.startswith(why)
    assert "GATEWAY_BACKEND_AVINODE=mock if the mock is meant" in found.problem


def test_in_production_a_mock_answers_where_it_is_chosen() -> None:
    found = upstream({**IN_PRODUCTION, "GATEWAY_BACKEND_AVINODE": "mock"})
    assert (found.backend, found.problem) == ("mock", None)


def test_in_production_a_live_upstream_and_a_workspace_are_as_elsewhere() -> None:
    live = upstream({**IN_PRODUCTION, **TOKENS, **URL})
    assert (live.backend, live.problem) == ("live", None)
    tables = structs.replace(AVINODE, has_workspace=True)
    stored = upstream(IN_PRODUCTION, contract=tables)
    assert (stored.backend, stored.problem) == ("workspace", None)


def test_a_mock_by_decree_holds_no_credentials() -> None:
    found = upstream(TOKENS | URL | {"GATEWAY_BACKEND_AVINODE": "mock"})

    assert (found.backend, dict(found.credentials)) == ("mock", {})


def test_with_credentials_and_a_base_url_it_is_live() -> None:
    found = upstream(TOKENS | URL)

    assert (found.backend, found.problem) == ("live", None)
    assert found.base_url == "https://api.example.com/v1"
    assert {name: s.reveal() for name, s in found.credentials.items()} == {
        "api_token": CANARY,
        "access_token": CANARY,
    }


def test_the_operator_may_choose_the_mock_whatever_the_credentials() -> None:
    found = upstream(TOKENS | URL | {"GATEWAY_BACKEND_AVINODE": "mock"})

    assert (found.backend, found.problem, dict(found.credentials)) == ("mock", None, {})


def test_an_upstream_without_credentials_is_live_when_the_operator_says_so() -> None:
    public = Upstream(name="open", title="Open", base_url="https://open.example")

    mocked = upstream({}, contract=public)
    assert (mocked.backend, "credentials" in mocked.reason) == ("mock", False)
    live = upstream({"GATEWAY_BACKEND_OPEN": "live"}, contract=public)
    assert (live.backend, live.base_url, live.problem) == ("live", "https://open.example", None)


@each_of(
    ("environ", "said"),
    [
        ({"GATEWAY_AVINODE_API_TOKEN": CANARY}, "needs GATEWAY_AVINODE_ACCESS_TOKEN;"),
        ({"GATEWAY_AVINODE_ACT_AS_ACCOUNT": "x"}, "_API_TOKEN and GATEWAY_AVINODE_ACCESS_TOKEN;"),
        ({"GATEWAY_BACKEND_AVINODE": "live"}, "needs GATEWAY_AVINODE_API_TOKEN and"),
        ({"GATEWAY_BACKEND_AVINODE": "live"}, "; set them, or GATEWAY_BACKEND_AVINODE=mock"),
        ({"GATEWAY_AVINODE_API_TOKEN": CANARY}, "; set it, or unset every credential to"),
        ({"GATEWAY_BACKEND_AVINODE": "moock"}, "GATEWAY_BACKEND_AVINODE: must be live or mock"),
        (TOKENS, "needs GATEWAY_AVINODE_BASE_URL"),
        (TOKENS | {"GATEWAY_AVINODE_API_TOKEN": "mock_x"}, "API_TOKEN starts with mock_"),
        (TOKENS | URL | {"GATEWAY_AVINODE_API_TOKEN": f"{CANARY}\n{CANARY}"}, "a header cannot"),
        ({"GATEWAY_AVINODE_API_TOKEN_FILE": f"/{CANARY}"}, "API_TOKEN_FILE: the file cannot be"),
    ],
)
def test_a_misconfigured_upstream_says_what_is_wrong_and_no_secret(environ, said) -> None:
    found = upstream(environ)

    assert found.problem is not None
    assert said in found.problem
    assert CANARY not in found.problem


@each_of(
    "url",
    [
        "api.example.com",
        "ftp://api.example.com",
        "https:///path",
        "https://me:word@api.example.com",
        "https://api.example.com?x=1",
        "https://api.example.com#x",
        "https://api.example.com:port",
        "https://[::1",
        "https://api.example.com/a b",
        "http://api.example.com",
        "http://localhost.example.com",
    ],
)
def test_an_invalid_base_url_is_refused_without_being_repeated(url) -> None:
    found = upstream(TOKENS | {"GATEWAY_AVINODE_BASE_URL": url})

    assert found.problem is not None
    assert found.problem.startswith("GATEWAY_AVINODE_BASE_URL: ")
    assert url not in found.problem


@pytest.mark.parametrize("host", ["localhost:80", "127.0.0.1:9", "[::1]:9"])
def test_plain_http_is_for_this_machine(host) -> None:
    assert upstream(TOKENS | {"GATEWAY_AVINODE_BASE_URL": f"http://{host}"}).problem is None


def test_plain_http_elsewhere_needs_the_operators_word() -> None:
    url = {"GATEWAY_AVINODE_BASE_URL": "http://api.example.com"}

    assert upstream(TOKENS | url | {"GATEWAY_ALLOW_PLAIN_HTTP": "true"}).problem is None


def test_the_toml_file_says_the_same_and_wins_over_variables(tmp_path) -> None:
    token = tmp_path / "token"
    token.write_text(CANARY, "utf-8")
    toml = tmp_path / "gateway.toml"
    toml.write_text(
        "[upstreams.avinode]\n"
        'base_url = "https://other.example"\n'
        f'api_token_file = "{token}"\n'
        f'access_token = "{CANARY}"\n',
        "utf-8",
    )

    found = upstream(URL, toml)

    assert (found.backend, found.problem) == ("live", None)
    assert found.base_url == "https://other.example"
    assert found.origins["base_url"] == f"{toml}: upstreams.avinode.base_url"


def test_an_unknown_key_of_an_upstream_is_its_problem(tmp_path) -> None:
    toml = tmp_path / "gateway.toml"
    toml.write_text('[upstreams.avinode]\napi_tokn = "x"\n', "utf-8")

    found = upstream({}, toml)

    assert found.problem is not None
    assert "upstreams.avinode.api_tokn is not a setting; did you mean api_token" in found.problem


def test_settings_of_an_upstream_that_is_not_there_are_refused(tmp_path) -> None:
    toml = tmp_path / "gateway.toml"
    toml.write_text('[upstreams.avinod]\nbackend = "mock"\n', "utf-8")

    with pytest.raises(ConfigurationError, match=r"did you mean avinode\?"):
        read_settings({}, toml, {}).for_upstreams([AVINODE])


def test_rows_show_where_a_credential_came_from_and_not_what_it_is() -> None:
    rows = {row.name: row for row in read_settings(TOKENS | URL, None, {}).describe([AVINODE])}

    assert rows["upstreams.avinode.backend"].value == "live"
    assert rows["upstreams.avinode.api_token"].value == "***"
    assert rows["upstreams.avinode.api_token"].origin == "GATEWAY_AVINODE_API_TOKEN"
    assert rows["upstreams.avinode.act_as_account"].value == ""
    assert CANARY not in repr(rows)


def test_secrets_of_upstreams_are_known_to_the_log_guard() -> None:
    settings = read_settings(TOKENS | URL, None, {})

    assert CANARY in settings.secrets([AVINODE])


def test_variables_of_a_declared_upstream_are_known() -> None:
    environ = TOKENS | URL | {"GATEWAY_BACKEND_AVINODE": "live", "GATEWAY_AVINODE_API_TOKE": "x"}

    assert unknown_variables(environ, [AVINODE]) == {
        "GATEWAY_AVINODE_API_TOKE": "did you mean GATEWAY_AVINODE_API_TOKEN?"
    }


@pytest.mark.parametrize(
    ("host", "names", "is_exposed"),
    [
        ("127.0.0.1", "", False),
        ("127.0.0.1", "gateway.example.com", False),
        ("::1", "", False),
        ("192.168.1.4", "", False),
        ("93.184.216.34", "", True),
        ("2606:2800:220:1:248:1893:25c8:1946", "", True),
        (ANYWHERE, "", False),
        (ANYWHERE, "gateway,gateway.internal,10.0.0.4", False),
        (ANYWHERE, "gateway.example.com", True),
        ("::", "93.184.216.34", True),
    ],
)
def test_on_a_public_address_no_mock_answers_unasked(
    host: str, names: str, is_exposed: bool
) -> None:
    environ = {"GATEWAY_HOST": host, **({"GATEWAY_ALLOWED_HOSTS": names} if names else {})}

    assert bool(upstream(environ).problem) is is_exposed
    assert upstream({**environ, "GATEWAY_BACKEND_AVINODE": "mock"}).problem is None


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://abc.supabase.co", "https://abc.supabase.co/rest/v1"),
        ("https://abc.supabase.co/", "https://abc.supabase.co/rest/v1"),
        ("https://abc.supabase.co/rest/v1/", "https://abc.supabase.co/rest/v1"),
        ("https://data.example.com", "https://data.example.com"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
    ],
)
def test_a_base_url_of_the_vendor_gets_the_path_that_its_api_has(given: str, used: str) -> None:
    environ = {"GATEWAY_SUPABASE_SECRET_KEY": "sb_secret_x", "GATEWAY_SUPABASE_BASE_URL": given}

    assert upstream(environ, contract=shipped.upstream("supabase")).base_url == used


@pytest.mark.parametrize(
    ("name", "given", "fix"),
    [
        (
            "supabase",
            {"BASE_URL": "https://a.supabase.co/auth/v1"},
            "https://a.supabase.co/rest/v1",
        ),
        ("supabase", {"SECRET_KEY": "sb_publishable_1"}, "the secret key of the project"),
        ("supabase", {"SECRET_KEY": "eyJhbGciOi"}, "GATEWAY_SUPABASE_SERVICE_ROLE_KEY"),
        ("supabase", {"SERVICE_ROLE_KEY": "sb_secret_1"}, "GATEWAY_SUPABASE_SECRET_KEY"),
        ("avinode", {"BASE_URL": "https://sandbox.avinode.com"}, None),
        ("avinode", {"BASE_URL": "https://sandbox.avinode.com/api/v1"}, "avinode.com/api"),
        ("avinode", {"ACCESS_TOKEN": "Bearer eyJ"}, "leave out the word"),
        ("frankfurter", {"BASE_URL": "https://api.frankfurter.dev/v2"}, "frankfurter.dev/v1"),
        ("ntfy", {"BASE_URL": "https://ntfy.sh/alerts"}, "https://ntfy.sh"),
        ("gmail", {"REFRESH_TOKEN": "ya29.a0"}, "set the refresh token"),
    ],
)
def test_what_is_easily_mistaken_is_refused_at_the_start_with_the_fix(
    name: str, given: dict[str, str], fix: str | None
) -> None:
    contract = shipped.upstream(name)
    environ = {f"GATEWAY_BACKEND_{name.upper()}": "live", "GATEWAY_NTFY_TOPIC": "alerts"}
    wanted = {"supabase": ("SECRET_KEY",) if "SERVICE_ROLE_KEY" not in given else ()}
    for each in wanted.get(name, [r.name.upper() for r in contract.credentials if r.is_required]):
        environ[f"GATEWAY_{name.upper()}_{each}"] = "sb_secret_x"
    environ |= {f"GATEWAY_{name.upper()}_{each}": value for each, value in given.items()}

    problem = upstream(environ, contract=contract).problem or ""

    if fix is None:
        assert "set https" not in problem
    else:
        assert fix in problem
