"""`tools`, `access` and `config`: catalogue and settings, for people and for programs."""

import json
import re

import pytest

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES


@pytest.fixture(scope="module")
def catalogue():
    """The catalogue that the commands print."""
    return open_catalogue("generated", HANDLER_PACKAGES)


def test_tools_list_shows_every_tool_once(cli, catalogue):
    code, out, _ = cli("tools", "list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == [e.id for e in catalogue.entries]


def test_tools_alone_lists_them(cli):
    assert cli("tools") == cli("tools", "list")


def test_tools_with_a_profile_prints_what_its_clients_refuse(cli):
    code, out, _ = cli("tools", "--profile", "gemini")
    assert code == 0
    assert out.startswith("Gemini, Gemini CLI, Antigravity: 46 tools\n")
    assert "gemini/keyword" in out
    assert out.endswith("Nothing is refused of what these clients are shown.\n")
    report = json.loads(cli("tools", "--profile", "gemini", "--json").out)
    assert report["shown"] == []
    found = {each["rule"]: each for each in report["unchanged"]}
    assert found["gemini/keyword"]["client"] == "gemini"
    assert found["gemini/keyword"]["pointer"].startswith("/inputSchema/")


def test_names_of_tools_leave_room_for_the_name_of_the_server(cli, monkeypatch):
    name = "n" * 40
    command = ("tools", "list", "--profile", "cursor", "--json")
    usual = [each["tool"]["name"] for each in json.loads(cli(*command).out)]
    shown = [each["tool"]["name"] for each in json.loads(cli(*command, "--server-name", name).out)]
    assert max(map(len, usual)) > 20 >= max(map(len, shown))
    (short,) = (new for old, new in zip(usual, shown, strict=True) if old == max(usual, key=len))
    code, out, _ = cli("tools", "--profile", "cursor", "--server-name", name)
    assert code == 0
    assert "tool/name" in out
    assert "Nothing is refused" in out
    monkeypatch.setenv("GATEWAY_SERVER_NAME", name)
    assert cli("tools", "show", short).code == 0


def test_tools_list_with_a_profile_prints_what_its_clients_get(cli, catalogue):
    code, out, _ = cli("tools", "list", "--profile", "gemini", "--json")
    assert code == 0
    shown = json.loads(out)
    assert [each["operation"] for each in shown] == [entry.id for entry in catalogue.entries]
    assert "additionalProperties" not in json.dumps([each["tool"]["inputSchema"] for each in shown])
    assert "changed" in cli("tools", "list", "--profile", "gemini", "--connector", "golf").out
    assert "changed" not in cli("tools", "list", "--profile", "source", "--connector", "golf").out
    code, _, err = cli("tools", "list", "--profile", "gemini", "--tokens")
    assert code == 2
    assert "--tokens or --profile" in err


def test_options_of_tools_are_refused_before_another_command(cli):
    code, out, err = cli("tools", "--profile", "gemini", "list")
    assert (code, out) == (2, "")
    assert "after list" in err
    code, _, err = cli("tools", "--profile", "gemni")
    assert code == 2
    assert "gemni" in err


def test_tools_list_can_be_narrowed_to_an_agent_and_a_connector(cli, catalogue):
    _, out, _ = cli("tools", "list", "--agent", "flight_search", "--json")
    listed = {tool["operation"] for tool in json.loads(out)}
    grants = catalogue.grants["flight_search"]
    assert listed == {each for each in grants if "/" not in each}, "resources are no tools"
    _, out, _ = cli("tools", "list", "--connector", "example", "--json")
    assert {tool["operation"].partition(".")[0] for tool in json.loads(out)} == {"example"}


def test_tools_tokens_weighs_the_lists_of_all_agents(cli, catalogue):
    out = cli("tools", "--tokens", "--json").out
    assert cli("tools", "list", "--tokens", "--json").out == out
    report = json.loads(out)
    assert [each["operation"] for each in report["tools"]] == [e.id for e in catalogue.entries]
    agents = {each["agent"]: each for each in report["agents"]}
    assert set(agents) == set(catalogue.grants)
    administrator = agents["administrator"]
    assert administrator["slim"] <= 19_600, "half of what everything listed weighed"
    assert administrator["search"] < administrator["slim"] < administrator["full"] / 2
    granted = [e for e in report["tools"] if e["operation"] in catalogue.grants["travel"]]
    # The list holds a tool of the gateway itself too, which continues results.
    own = agents["travel"]["full"] - sum(each["full"] for each in granted)
    assert 0 < own < 150
    assert "its list" in cli("tools", "--tokens").out


def test_tools_tokens_can_be_narrowed_and_says_the_mode(cli, monkeypatch):
    monkeypatch.setenv("GATEWAY_LIST_MODE", "search")
    options = ("--agent", "travel", "--connector", "amadeus", "--tokens")
    report = json.loads(cli("tools", "list", *options, "--json").out)
    assert [each["agent"] for each in report["agents"]] == ["travel"]
    assert (report["agents"][0]["list"], report["agents"][0]["tools"]) == ("search", 3)
    assert len(report["tools"]) == 3
    code, _, err = cli("tools", "--tokens", "--profile", "gemini")
    assert code == 2
    assert "choose --tokens or --profile" in err


def test_tools_list_says_who_answers(cli, monkeypatch):
    """Half of an upstream's credentials keep the gateway from serving, and not from listing."""

    def backends(*arguments):
        listed = json.loads(cli("tools", "list", "--json").out)
        return {tool["operation"].partition(".")[0]: tool["backend"] for tool in listed}

    assert (backends()["avinode"], backends()["example"]) == ("mock", "python")
    monkeypatch.setenv("GATEWAY_AVINODE_API_TOKEN", "canary-0123456789")
    assert backends()["avinode"] == "misconfigured"
    monkeypatch.setenv("GATEWAY_AVINODE_ACCESS_TOKEN", "canary-0123456789")
    monkeypatch.setenv("GATEWAY_AVINODE_BASE_URL", "https://avinode.example")
    assert backends()["avinode"] == "live"
    assert " live " in cli("tools", "list", "--connector", "avinode").out
    assert (
        json.loads(cli("tools", "show", "avinode.create_trip", "--json").out)["backend"] == "live"
    )


@pytest.mark.parametrize(
    ("option", "name", "fix"),
    [
        ("--agent", "flight_serch", "did you mean flight_search?"),
        ("--agent", "x", "the agents are administrator, "),
        ("--connector", "avinod", "did you mean avinode?"),
        ("--connector", "x", "the connectors are amadeus, avinode, entities, "),
    ],
)
def test_tools_list_knows_its_agents_and_connectors(cli, option, name, fix):
    code, out, err = cli("tools", "list", option, name)
    assert (code, out) == (2, "")
    assert f"fix: {fix}" in err


def test_a_table_in_a_pipe_is_not_cut(cli):
    """A pipe has no width; what does not fit 80 columns must still be whole."""
    _, out, _ = cli("config")
    assert "…" not in out
    assert not any(line.endswith(" ") for line in out.splitlines())


@pytest.mark.parametrize("name", ["example.greet", "example_greet"])
def test_tools_show_takes_an_operation_id_or_an_mcp_name(cli, catalogue, name):
    code, out, _ = cli("tools", "show", name, "--json")
    assert code == 0
    shown = json.loads(out)
    assert shown["operation"] == "example.greet"
    assert shown["input_schema"] == catalogue.find("example.greet").listing.input_schema


def test_tools_show_prints_schemas_for_people(cli):
    code, out, _ = cli("tools", "show", "example.greet")
    assert code == 0
    assert out.startswith("operation       example.greet\n")
    assert re.search(r"^name +string +yes", out, re.MULTILINE)


def test_tools_show_says_how_often_a_call_is_attempted(cli, catalogue):
    out = cli("tools", "show", "avinode.search_airports").out
    most = catalogue.find("avinode.search_airports").operation.attempts.max
    assert re.search(rf"^attempts +{most}$", out, re.MULTILINE)


def test_tools_show_says_which_types_a_member_may_have(cli):
    out = cli("tools", "show", "supabase.insert").out
    [line] = [each for each in out.splitlines() if each.startswith("data ")]
    assert line.split("  ")[1].strip() == "object or list of object"


def test_a_tool_without_arguments_says_so_among_the_rest(cli, monkeypatch):
    monkeypatch.setattr("gateway.cli.authoring.tools._members", lambda _: iter(()))
    code, out, err = cli("tools", "show", "example.greet")
    assert (code, err) == (0, "")
    assert "\narguments\nnone\n\nresult\nnone\n" in out


def test_an_unknown_tool_is_met_with_the_nearest_name(cli):
    outcome = cli("tools", "show", "example.gret")
    assert outcome.code == 1
    assert (
        outcome.err == "error: there is no tool 'example.gret'\nfix: did you mean example.greet?\n"
    )


def test_access_can_answers_with_its_exit_code(cli):
    assert cli("access", "can", "flight_search", "avinode.create_rfp").code == 0
    outcome = cli("access", "can", "flight_search", "example.greet")
    assert outcome == (1, "flight_search may not call example.greet\n", "")


def test_access_can_says_which_arguments_are_granted(cli):
    code, out, _ = cli("access", "can", "orchestrator", "supabase.query")
    assert code == 0
    assert out.splitlines() == [
        "orchestrator may call supabase.query",
        "The arguments must be valid under",
        '  {"properties":{"table":{"not":{"const":"client_cache"}}}}',
        "as policies/agents.yaml says at /agents/orchestrator/grants/0",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"table": "quotes"}', None),
        (
            '{"table": "client_cache"}',
            '  /table: the value must not be "client_cache", in case 1 of 2',
        ),
        ('{"table": "client_cache"}', "  /filters: is required, in case 2 of 2"),
        ('{"table": "quotes", "limit": 0}', "  /limit: the value is less than the minimum of 1"),
        ("{", "  The arguments are not valid JSON"),
    ],
)
def test_access_can_judges_one_call(cli, arguments, said):
    code, out, _ = cli("access", "can", "communication", "supabase.query", "--arguments", arguments)
    assert code == (0 if said is None else 1)
    verb = "may" if said is None else "may not"
    assert out.startswith(f"communication {verb} call supabase.query with these arguments\n")
    assert said is None or said in out


def test_access_list_marks_what_is_granted_in_part(cli):
    code, out, _ = cli("access", "list", "communication")
    assert code == 0
    rows = dict(line.split()[1:] for line in out.splitlines()[1:])
    assert rows["supabase.query"] == "some"
    assert rows["gmail.get_email"] == "all"


def test_tools_of_an_agent_are_shown_as_it_may_call_them(cli):
    listed = ("tools", "list", "--profile", "default", "--json", "--agent")
    assert "client_cache" not in cli(*listed, "orchestrator").out
    assert "client_cache" in cli(*listed, "client_data").out


def test_access_list_is_what_the_policies_grant(cli, catalogue):
    code, out, _ = cli("access", "list", "--json")
    assert code == 0
    assert json.loads(out) == {a: sorted(ids) for a, ids in sorted(catalogue.grants.items())}


def test_access_knows_no_agent_but_those_of_the_policies(cli):
    code, _, err = cli("access", "list", "somebody")
    assert code == 2
    assert "fix: the agents are administrator, " in err


def test_config_prints_where_a_value_comes_from_and_masks_secrets(cli, monkeypatch):
    monkeypatch.setenv("GATEWAY_BOOTSTRAP_KEY", "canary-0123456789")
    monkeypatch.setenv("GATEWAY_PORT", "9000")
    code, out, _ = cli("config", "--json", "--seed", "7")
    assert code == 0
    rows = {row["name"]: row for row in json.loads(out)}
    assert (rows["port"]["value"], rows["port"]["origin"]) == ("9000", "GATEWAY_PORT")
    assert (rows["seed"]["value"], rows["seed"]["origin"]) == ("7", "--seed")
    assert rows["bootstrap_key"]["origin"] == "GATEWAY_BOOTSTRAP_KEY"
    assert "canary" not in out


def test_a_missing_package_says_how_to_make_it(cli):
    code, _, err = cli("tools", "list", "--package", "not_there")
    assert code == 2
    assert err.splitlines()[1] == "fix: run `gateway generate`"


def test_a_missing_settings_file_is_one_clear_error(cli):
    code, _, err = cli("config", "--config", "absent.toml")
    assert code == 2
    assert err.startswith("error: absent.toml: ")
