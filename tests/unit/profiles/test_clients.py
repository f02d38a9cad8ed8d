"""The table of client profiles."""

from gateway.profiles.clients import CLIENTS, PROFILES, profile_of
from gateway.profiles.refusals import ShownTool, refusals
from tests.unit.tables import each_of


@each_of(
    ("client", "profile"),
    [
        ("claude-ai", "claude"),
        ("claude-code", "claude"),
        ("Anthropic/ClaudeAI", "claude"),
        ("openai-mcp", "openai"),
        ("ChatGPT", "openai"),
        ("codex-mcp-client", "openai"),
        ("gemini-cli-mcp-client", "gemini"),
        ("antigravity-client", "gemini"),
        ("Visual Studio Code", "vscode"),
        ("Visual-Studio-Code - Insiders", "vscode"),
        ("github-copilot-developer", "vscode"),
        ("cursor-vscode", "cursor"),
        ("kimi-cli", "kimi"),
        ("mcp", "default"),
        ("", "default"),
        ("my-claude", "default"),
        ("\x1b[2Jclaude" + "x" * 10_000, "default"),
    ],
)
def test_a_client_is_known_by_the_beginning_of_its_name(client: str, profile: str) -> None:
    assert profile_of(client).name == profile


def test_names_of_profiles_are_unique_and_no_beginning_belongs_to_two() -> None:
    assert len(PROFILES) == len(CLIENTS) + 2
    beginnings = [(each, profile.name) for profile in CLIENTS for each in profile.clients]
    clashes = [
        (one, other)
        for one, owner in beginnings
        for other, second in beginnings
        if owner != second and one.startswith(other)
    ]
    assert clashes == []
    assert all(each == each.casefold() for each, _ in beginnings)


@each_of(
    ("profile", "schema", "rule"),
    [
        ("claude", {"type": "object", "anyOf": [{"required": ["a"]}]}, "root/union"),
        ("claude", {"type": "object", "properties": {"a<": {}}}, "root/member-name"),
        ("openai", {"type": "object"}, "schema/object-properties"),
        ("openai", {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
         "schema/reference"),
        ("vscode", {"type": "object", "properties": {"a": {"type": "array"}}},
         "schema/array-items"),
        ("kimi", {"type": "object", "properties": {"a": {"$ref": "#/properties/b"}}},
         "schema/reference-elsewhere"),
        ("gemini", {"type": "object", "properties": {"a": {"exclusiveMinimum": 1}}},
         "gemini/keyword"),
        ("gemini", {"type": "object", "properties": {"a": {"type": "integer", "enum": [1]}}},
         "gemini/enum"),
        ("gemini", {"type": "object", "additionalProperties": False}, "gemini/keyword"),
        ("cursor", {"type": "array"}, "root/object"),
    ],
)  # fmt: skip
def test_what_clients_refuse_is_found(profile: str, schema: dict[str, object], rule: str) -> None:
    found = refusals([ShownTool(name="tool", input_schema=schema)], PROFILES[profile])
    assert rule in {each.rule for each in found}


def test_an_output_schema_that_is_no_object_is_found() -> None:
    schema = {"type": "object"}
    tool = ShownTool(name="tool", input_schema=schema, output_schema={"type": "array"})
    (found,) = refusals([tool], PROFILES["typescript-sdk-1"])
    assert (found.rule, found.pointer) == ("root/object", "/outputSchema/type")


def test_long_names_and_long_lists_are_found() -> None:
    schema = {"type": "object", "properties": {}}
    tools = [ShownTool(name=f"t{n}", input_schema=schema) for n in range(129)]
    (found,) = refusals(tools, PROFILES["vscode"])
    assert (found.rule, found.tool) == ("list/tools", None)
    (found,) = refusals([ShownTool(name="t" * 42, input_schema=schema)], PROFILES["claude"])
    assert found.rule == "tool/name"
    assert list(refusals([ShownTool(name="t" * 41, input_schema=schema)], PROFILES["claude"])) == []
    # A longer name of the server leaves less room.
    long = refusals([ShownTool(name="t" * 41, input_schema=schema)], PROFILES["claude"], "a" * 17)
    assert [each.rule for each in long] == ["tool/name"]
