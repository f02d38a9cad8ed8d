"""Reading settings: order of the sources, types, ranges, and what is said of a mistake."""

import pickle
from pathlib import Path

import msgspec
import pytest

from gateway.errors import ConfigurationError
from gateway.settings import Secret, find_toml, read_settings, unknown_variables
from gateway.settings.declared import SETTINGS
from gateway.settings.settings import Settings
from tests.unit.tables import each_of

CANARY = "canary-7f3e9a1b5c2d"


@pytest.fixture
def toml(tmp_path):
    """Write a gateway.toml and return its path."""

    def write(text: str) -> Path:
        path = tmp_path / "gateway.toml"
        path.write_text(text, "utf-8")
        return path

    return write


def refusal(environ=None, toml_path=None, flags=None) -> str:
    with pytest.raises(ConfigurationError) as refused:
        read_settings(environ or {}, toml_path, flags or {})
    return str(refused.value)


def test_without_sources_every_setting_has_its_documented_default() -> None:
    settings = read_settings({}, None, {})

    assert (settings.host, settings.port, settings.data) == ("127.0.0.1", 8700, Path("data"))
    assert {row.origin for row in settings.describe()} == {"default"}


@pytest.mark.parametrize(
    ("environ", "text", "flags", "port", "origin"),
    [
        ({"GATEWAY_PORT": "1"}, "", {}, 1, "GATEWAY_PORT"),
        ({"GATEWAY_PORT": "1"}, "port = 2", {}, 2, "gateway.toml: port"),
        ({"GATEWAY_PORT": "1"}, "port = 2", {"port": 3}, 3, "--port"),
        ({"GATEWAY_PORT": "1"}, "", {"port": 3}, 3, "--port"),
        ({"GATEWAY_PORT": "1"}, "", {"port": None}, 1, "GATEWAY_PORT"),
        ({"GATEWAY_PORT": ""}, "", {}, 8700, "default"),
        ({"GATEWAY_PORT": "1"}, "", {"port": 0}, 0, "--port"),
    ],
)
def test_sources_win_in_rising_order(toml, environ, text, flags, port, origin) -> None:
    settings = read_settings(environ, toml(text), flags)

    assert settings.port == port
    row = next(row for row in settings.describe() if row.name == "port")
    assert row.value == str(port)
    assert row.origin.endswith(origin)


@each_of(
    ("variable", "text", "expected"),
    [
        ("BODY_DEADLINE_SECONDS", "2.5", 2.5),
        ("ALLOW_PLAIN_HTTP", "true", True),
        ("ALLOWED_HOSTS", "a.example, [::1]", ("a.example", "[::1]")),
        ("ALLOWED_ORIGINS", "https://a.example:8443", ("https://a.example:8443",)),
        ("LOG_FORMAT", "json", "json"),
        ("DATA", "/var/lib/gateway", Path("/var/lib/gateway")),
        ("PACKAGE", "acme.generated", "acme.generated"),
        ("DATABASE_URL", "memory:", Secret("memory:")),
        ("CLIENT_PROFILE", "gemini", "gemini"),
        ("TRACE_ENDPOINT", "http://a.example:4318/v1/traces", "http://a.example:4318/v1/traces"),
    ],
)
def test_a_variable_is_read_by_its_type(variable, text, expected) -> None:
    settings = read_settings({f"GATEWAY_{variable}": text}, None, {})

    assert getattr(settings, variable.lower()) == expected


@each_of(
    ("variable", "text"),
    [
        ("PORT", "eight"),
        ("PORT", "65536"),
        ("PORT", "-1"),
        ("PORT", "80.5"),
        ("BODY_DEADLINE_SECONDS", "nan"),
        ("BODY_DEADLINE_SECONDS", "inf"),
        ("MAX_BODY_BYTES", "999"),
        ("ALLOW_PLAIN_HTTP", "perhaps"),
        ("ALLOWED_HOSTS", "a.example, http://b"),
        ("ALLOWED_ORIGINS", "no.origin"),
        ("LOG_LEVEL", "loud"),
        ("PACKAGE", "acme/generated"),
        ("HOST", "http://here"),
        ("DATABASE_URL", "mysql://me:word@db/x"),
        ("CLIENT_PROFILE", "Gemini!"),
        ("TRACE_ENDPOINT", "ftp://a.example"),
        ("TRACE_SAMPLE", "1.1"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_origin_and_rule(variable, text) -> None:
    """The message names the variable and what it must be, and does not repeat the value."""
    message = refusal({f"GATEWAY_{variable}": text})

    assert message.startswith(f"GATEWAY_{variable}: must be ")
    assert text not in message.removeprefix(f"GATEWAY_{variable}: must be ")


@pytest.mark.parametrize("text", ["tcp://10.0.0.1:8700", "udp://[fd00::1]:8700"])
def test_the_port_that_kubernetes_sets_is_refused_with_the_cause_and_the_fix(text) -> None:
    assert refusal({"GATEWAY_PORT": text}) == (
        "GATEWAY_PORT: must be a whole number from 0 to 65535, but Kubernetes sets it to an address"
        " for a service named gateway; set `enableServiceLinks: false` in the pod, or give the"
        " service another name"
    )


def test_a_toml_value_of_another_type_is_refused(toml) -> None:
    path = toml('port = "8700"')

    assert refusal(toml_path=path) == (
        f"{path}: port: must be a whole number from 0 to 65535; the default is 8700"
    )


def test_an_unknown_key_is_refused_with_the_nearest_one(toml) -> None:
    assert refusal(toml_path=toml("prot = 1")).endswith("prot is not a setting; did you mean port?")


@pytest.mark.parametrize("text", ["upstreams = 1", "upstreams.avinode = 1"])
def test_upstreams_must_be_tables(toml, text) -> None:
    assert "[upstreams.<name>]" in refusal(toml_path=toml(text))


def test_a_broken_file_is_refused_with_the_place(toml) -> None:
    assert "line 2" in refusal(toml_path=toml("port = 1\nhost = \n"))


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")

    assert "cannot be read" in refusal(toml_path=tmp_path / "none.toml")
    assert "not UTF-8" in refusal(toml_path=binary)


def test_the_file_is_the_named_one_else_the_one_here(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert find_toml({}) is None
    Path("gateway.toml").touch()
    assert find_toml({}) == Path("gateway.toml")
    assert find_toml({"GATEWAY_CONFIG": "other.toml"}) == Path("other.toml")


def test_the_allowed_hosts_are_by_default_the_loopback_names_and_the_own_one() -> None:
    assert read_settings({}, None, {"host": "10.0.0.7"}).allowed_hosts == (
        "localhost",
        "127.0.0.1",
        "[::1]",
        "10.0.0.7",
    )
    assert read_settings({}, None, {"host": "fe80::1"}).allowed_hosts[-1] == "[fe80::1]"


def test_the_database_lies_in_the_data_folder_unless_said_otherwise() -> None:
    settings = read_settings({}, None, {"data": Path("/srv/g")})

    assert settings.database == "sqlite:////srv/g/gateway.db"


def test_the_rule_of_a_key_says_what_is_demanded_of_it() -> None:
    """A key of an administrator must also be hard to guess."""
    assert SETTINGS["key"].rule.startswith("16 to 512 characters")
    assert SETTINGS["bootstrap_key"].rule.startswith("20 to 512 characters")
    assert "8 different ones" in SETTINGS["bootstrap_key"].rule


def test_a_secret_is_read_from_a_file(tmp_path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{CANARY}\n", "utf-8")

    settings = read_settings({"GATEWAY_BOOTSTRAP_KEY_FILE": str(file)}, None, {})

    assert settings.bootstrap_key == Secret(CANARY)
    assert settings.origins["bootstrap_key"] == "GATEWAY_BOOTSTRAP_KEY_FILE"


def test_a_higher_file_wins_over_a_lower_secret_and_the_other_way_round(tmp_path, toml) -> None:
    file = tmp_path / "key"
    file.write_text("k" * 20, "utf-8")
    by_file = toml(f'key_file = "{file}"')

    assert read_settings({"GATEWAY_KEY": CANARY}, by_file, {}).key == Secret("k" * 20)
    by_value = toml(f'key = "{CANARY}"')
    assert read_settings({"GATEWAY_KEY_FILE": str(file)}, by_value, {}).key == Secret(CANARY)


@each_of(
    "environ",
    [
        {"GATEWAY_KEY": CANARY, "GATEWAY_KEY_FILE": "/etc/hostname"},
        {"GATEWAY_KEY_FILE": CANARY},
        {"GATEWAY_KEY_FILE": f"\0{CANARY}"},
        {"GATEWAY_KEY_FILE": "/"},
        {"GATEWAY_KEY_FILE": "/dev/null"},
        {"GATEWAY_BOOTSTRAP_KEY": CANARY[:15]},
        {"GATEWAY_BOOTSTRAP_KEY": CANARY * 100},
        {"GATEWAY_KEY": f"{CANARY} {CANARY}"},
        {"GATEWAY_KEY": f"{CANARY}é"},
        {"GATEWAY_BOOTSTRAP_KEY": f"{CANARY}$"},
        {"GATEWAY_BOOTSTRAP_KEY": f"={CANARY}"},
    ],
)
def test_an_unusable_secret_is_refused_without_being_repeated(environ) -> None:
    message = refusal(environ)

    assert message.startswith("GATEWAY_")
    assert CANARY[:15] not in message


@pytest.mark.parametrize(
    "name", [each.name for each in msgspec.structs.fields(Settings) if "Secret" in repr(each.type)]
)
def test_each_setting_that_is_a_secret_is_kept_out_of_logs(name: str) -> None:
    url = f"rediss://user:{CANARY}%2f@example.com/0"

    assert {url, f"{CANARY}/"} <= {*Settings(**{name: Secret(url)}).secrets()}


def test_no_secret_shows_in_any_text_of_the_settings() -> None:
    settings = read_settings({"GATEWAY_KEY": CANARY, "GATEWAY_AVINODE_API_TOKEN": CANARY}, None, {})

    assert settings.key is not None
    assert settings.key.reveal() == CANARY
    assert settings.secrets() == (CANARY,)
    for text in (repr(settings), str(settings), f"{settings.key}", f"{settings.key!r:>9}"):
        assert CANARY not in text
    assert all(CANARY not in repr(row) for row in settings.describe())
    with pytest.raises(TypeError):
        pickle.dumps(settings.key)
    with pytest.raises(TypeError):
        msgspec.json.encode(settings.key)


def test_a_variable_that_nothing_reads_is_reported_with_the_nearest_one() -> None:
    environ = {
        "GATEWAY_PROT": "1",
        "GATEWAY_PORT": "1",
        "GATEWAY_KEY_FILE": "x",
        "GATEWAY_CONFIG": "x",
        "GATEWAY_TESTS_NO_SKIP": "1",
        "GATEWAY_FAILPOINT": "x",
        "GATEWAY_FAILPOINT_LOG": "x",
        "HOME": "/",
    }

    assert unknown_variables(environ) == {"GATEWAY_PROT": "did you mean GATEWAY_PORT?"}


@each_of("key", SETTINGS)
def test_every_setting_says_what_it_means_and_must_be(key) -> None:
    setting = SETTINGS[key]

    assert setting.description.endswith(".")
    assert setting.rule
    assert setting.name.variable == f"GATEWAY_{key.upper()}"


@pytest.mark.parametrize("key", [k for k, s in SETTINGS.items() if isinstance(s.default, tuple)])
def test_every_list_can_be_given_by_a_variable_also_with_a_default(key):
    setting = SETTINGS[key]
    text = {"allowed_origins": "https://a.example,https://b.example"}.get(key, "10.0.0.0,10.0.0.1")
    if key == "handler_packages":
        text = "one.two, three"
    settings = read_settings({setting.name.variable: text}, None, {})
    assert getattr(settings, key) == tuple(each.strip() for each in text.split(","))


def test_each_description_can_be_read_without_the_one_before():
    for key, setting in SETTINGS.items():
        assert "The same" not in setting.description, key
        assert setting.description.endswith("."), key
        assert ("per second" in setting.description) is key.endswith("_per_second"), key


def test_flags_and_variables_list_several_values_alike() -> None:
    flags = {"allowed_hosts": ("a.example, b.example", "[::1]")}
    settings = read_settings({}, None, flags)

    assert settings.allowed_hosts == ("a.example", "b.example", "[::1]")


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path) -> None:
    path = tmp_path / "gateway.toml"
    path.write_bytes(b"\xef\xbb\xbfport = 1\n")

    assert read_settings({}, path, {}).port == 1
