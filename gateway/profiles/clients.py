"""The table of client profiles: what each kind of client refuses, as public issues show it."""

from collections.abc import Hashable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from gateway.contract.agent_view import SERVER
from gateway.profiles import gemini, rules
from gateway.profiles.limits import SchemaLimits
from gateway.profiles.rules import SchemaRule

DEFAULT: Final = "default"
SOURCE: Final = "source"
MAX_CLIENT_NAME: Final = 64
"""More characters of a client's name are not read."""


class ClientProfile(Struct, frozen=True, kw_only=True):
    """What one kind of client accepts."""

    name: str
    title: str
    clients: tuple[str, ...] = ()
    """Beginnings of the names by which such clients introduce themselves, in lower case."""
    rules: tuple[SchemaRule, ...] = ()
    """For input schemas, in the order in which they are applied."""
    output_rules: tuple[SchemaRule, ...] = ()
    limits: SchemaLimits | None = None
    max_name: int | None = None
    """The most characters of a tool's name with `prefix`."""
    prefix: str = ""
    """What the client puts before the name of a tool. `{server}` is the user's name for the
    gateway."""
    max_tools: int | None = None
    sources: tuple[str, ...] = ()
    """Public issues that report it."""

    def room(self, server: str = SERVER) -> int | None:
        """The most characters of a tool's own name. None: any number.

        `server`: the user's name for the gateway. A longer one leaves less.
        """
        if self.max_name is None:
            return None
        return self.max_name - len(self.prefix.format(server=server))

    @property
    def changes(self) -> tuple[Hashable, ...]:
        """Equal for profiles that make the same of an input schema."""
        ids = tuple(rule.id for rule in self.rules if rule.widened is not None)
        return self.is_source, ids, self.limits

    @property
    def is_source(self) -> bool:
        """Whether schemas and names are shown as the contracts write them."""
        return self.name == SOURCE


_ROOT: Final = (rules.ROOT_OBJECT, rules.ROOT_UNION)
_OPENAI: Final = (
    *_ROOT,
    rules.NO_REFERENCE,
    rules.NO_BOOLEAN,
    rules.OBJECT_PROPERTIES,
    rules.ARRAY_ITEMS,
)
_STRUCTURED: Final = SchemaLimits(depth=10, properties=5_000, enum_values=1_000)
_OUTPUT: Final = (*_ROOT, rules.NO_REFERENCE)

CLIENTS: Final = (
    ClientProfile(
        name="claude",
        title="Claude, Claude Code, Claude Desktop",
        clients=("claude", "anthropic"),
        rules=(*_ROOT, rules.MEMBER_NAME),
        max_name=64,
        prefix="mcp__{server}__",
        sources=("anthropics/claude-code#95504", "#88049", "#23149", "freee/freee-mcp#15"),
    ),
    ClientProfile(
        name="openai",
        title="OpenAI, ChatGPT, Codex",
        clients=("openai", "chatgpt", "codex"),
        rules=_OPENAI,
        limits=_STRUCTURED,
        max_name=64,
        prefix="mcp__{server}__",
        sources=("openai/openai-agents-python#449", "openai/codex#3152"),
    ),
    ClientProfile(
        name="gemini",
        title="Gemini, Gemini CLI, Antigravity",
        clients=("gemini", "antigravity"),
        rules=(*_ROOT, rules.NO_REFERENCE, *gemini.RULES, rules.NO_BOOLEAN, rules.ARRAY_ITEMS),
        max_name=64,
        sources=("pizza-bot#62", "opencode#14234", "google-gemini/gemini-cli#2237"),
    ),
    ClientProfile(
        name="vscode",
        title="Visual Studio Code, GitHub Copilot",
        clients=("visual studio code", "visual-studio-code", "vscode", "github-copilot"),
        rules=(rules.ROOT_OBJECT, rules.ARRAY_ITEMS),
        max_tools=128,
        sources=("rootly-mcp-server#82", "microsoft/vscode-copilot-release#11653"),
    ),
    ClientProfile(
        name="cursor",
        title="Cursor",
        clients=("cursor",),
        rules=(rules.ROOT_OBJECT,),
        max_name=60,
        prefix="{server}",
        sources=("mcp-playwright#145",),
    ),
    ClientProfile(
        name="kimi",
        title="Kimi",
        clients=("kimi", "moonshot"),
        rules=(rules.ROOT_OBJECT, rules.LOCAL_REFERENCE),
        max_name=64,
    ),
    ClientProfile(
        name="typescript-sdk-1",
        title="Clients with version 1 of the TypeScript SDK",
        rules=(rules.ROOT_OBJECT,),
        output_rules=(rules.ROOT_OBJECT,),
        sources=("mcpx#28",),
    ),
)
"""The clients of which it is known what they refuse."""
PROFILES: Final[Mapping[str, ClientProfile]] = {
    DEFAULT: ClientProfile(
        name=DEFAULT,
        title="Any other client: what all clients accept, but not Gemini's part of JSON Schema",
        rules=(*_OPENAI, rules.MEMBER_NAME),
        output_rules=_OUTPUT,
        limits=_STRUCTURED,
        max_name=64,
        prefix="mcp__{server}__",
    ),
    **{each.name: each for each in CLIENTS},
    SOURCE: ClientProfile(name=SOURCE, title="The schemas and names of the contracts, unchanged"),
}
"""All profiles by name."""


def profile_of(client: str) -> ClientProfile:
    """The profile for a client by the name with which it introduces itself.

    The name is text of the caller: it only chooses one of the profiles.
    """
    wanted = client[:MAX_CLIENT_NAME].strip().casefold()
    found = (each for each in CLIENTS for name in each.clients if wanted.startswith(name))
    return next(found, PROFILES[DEFAULT])


def rules_of_all() -> Iterator[SchemaRule]:
    """Every rule of the table once, sorted by id."""
    found = {rule.id: rule for each in CLIENTS for rule in (*each.rules, *each.output_rules)}
    yield from (found[name] for name in sorted(found))
