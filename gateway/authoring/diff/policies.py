"""The rules of policy: what changed between two versions that no schema can prove or refute."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.codegen.acceptance import client_findings
from gateway.authoring.codegen.ir import (
    Annotations,
    Contracts,
    ContractSource,
    EventContract,
    ImportedTool,
    ToolContract,
    UpstreamContract,
    WebhookContract,
)
from gateway.authoring.codegen.render.published import tools_json
from gateway.authoring.diff.changes import ChangePlace, ChangeVerdict, ContractChange
from gateway.authoring.diff.facets import (
    canonical,
    event_facets,
    input_digest,
    output_digest,
    schema_digest,
    tool_facets,
)
from gateway.authoring.diff.rules import RULES
from gateway.contract.operation import Effect
from gateway.contract.policies.limits import AgentLimits, CallWindow, ToolLimits
from gateway.contract.schemas.keywords import subschemas
from gateway.contract.upstream import CredentialRule, SettingRule, Upstream
from gateway.contract.values.pointers import child, steps

LIST_BUDGET: Final = 4_000
"""Bytes by which `tools/list` may grow at once, about a thousand tokens."""
_BYTES_OF_TOKEN: Final = 4


def policies(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    """What the rules of policy find between `old` and `new`, sorted by subject."""
    found = chain(
        _tools(old, new),
        _imported(old, new),
        _offered(old, new),
        _agents(old, new),
        _upstreams(old, new),
        _webhooks(old, new),
        _events(old, new),
        _lists(old, new),
    )
    yield from sorted(found, key=lambda each: (each.subject, each.rule, each.text))


class _Pair(Struct, frozen=True, kw_only=True):
    """What is compared: a subject on both sides, and the files in which it is written."""

    subject: str
    old: ContractSource | None = None
    new: ContractSource | None = None

    def change(self, rule: str, text: str, pointer: str = "") -> ContractChange:
        known = RULES[rule]
        return ContractChange(
            rule=rule,
            subject=self.subject,
            verdict=ChangeVerdict.POLICY,
            severity=known.severity,
            text=text,
            old=_place(self.old, pointer),
            new=_place(self.new, pointer),
        )


def _place(source: ContractSource | None, pointer: str) -> ChangePlace | None:
    return None if source is None else ChangePlace(str(source.path), pointer)


# Tools.


def _tools(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    before = {tool.id: tool for tool in old.tools}
    now = {tool.id: tool for tool in new.tools}
    names = {name for tool in new.tools for name in (tool.mcp_name, *tool.aliases)}
    added = [tool for tool in new.tools if tool.id not in before]
    for id_ in before.keys() - now.keys():
        successor = _successor(before[id_], added)
        if successor is not None and before[id_].mcp_name not in names:
            yield _renamed(before[id_], successor)
    for id_ in before.keys() & now.keys():
        yield from _tool(before[id_], now[id_])


def _successor(tool: ToolContract, added: Iterable[ToolContract]) -> ToolContract | None:
    """The new tool that does the same as `tool`, which is gone. None if there is none."""

    def form(each: ToolContract) -> tuple[Any, ...]:
        return input_digest(each), output_digest(each), tool_facets(each).binding

    return next((each for each in added if form(each) == form(tool)), None)


def _renamed(tool: ToolContract, successor: ToolContract) -> ContractChange:
    pair = _Pair(subject=tool.id, old=tool.source, new=successor.source)
    text = f"{tool.id} is {successor.id} now, and nothing answers to {tool.mcp_name}"
    return pair.change("tool-renamed-without-alias", text, "/post/x-mcp/aliases")


def _tool(old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    pair = _Pair(subject=new.id, old=old.source, new=new.source)
    for find in _OF_TOOLS:
        yield from find(pair, old, new)


def _names(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    names = {new.mcp_name, *new.aliases}
    if old.mcp_name not in names:
        text = f"{old.mcp_name} is {new.mcp_name} now, without an alias"
        yield pair.change("tool-renamed-without-alias", text, "/post/x-mcp/name")
    for alias in sorted({*old.aliases} - names):
        text = f"the alias {alias} is gone"
        yield pair.change("tool-alias-removed", text, "/post/x-mcp/aliases")
    if old.is_query and not new.is_query:
        yield pair.change("query-route-removed", f"GET {old.route} is gone", "/post/x-query")
    for tag in sorted({*old.grantable.tags} - {*new.grantable.tags}):
        yield pair.change("tag-removed", f"the tag {tag} is gone", "/post/tags")


def _texts(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    yield from _own_texts(pair, old, new)
    for pointer in _other_texts(old.input_schema, new.input_schema):
        text = f"what the schema says of the argument {pointer or '/'} is another text"
        yield pair.change("param-description-changed", text, f"{_ARGUMENTS}{pointer}")
    if places := list(_other_texts(old.output_schema, new.output_schema)):
        text = f"{amount(len(places), 'text')} of the result changed, the first at {places[0]}"
        yield pair.change("output-description-changed", text, f"{_RESULT}{places[0]}")


def _own_texts(
    pair: _Pair, old: ToolContract | ImportedTool, new: ToolContract | ImportedTool
) -> Iterator[ContractChange]:
    if old.title != new.title:
        text = f"the title is {new.title!r}, and was {old.title!r}"
        yield pair.change("title-changed", text, "/post/summary")
    if old.description != new.description:
        text = "the description is another text"
        yield pair.change("tool-description-changed", text, "/post/description")


_ARGUMENTS: Final = "/post/requestBody/content/application~1json/schema"
_RESULT: Final = "/post/responses/200/content/application~1json/schema"
_SAID: Final = ("title", "description")


def _other_texts(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """The pointers at which both schemas say something else. The first says it, at its root."""
    before = dict(subschemas(old))
    for pointer, schema in subschemas(new):
        known = before.get(pointer)
        if known is not None and any(known.get(each) != schema.get(each) for each in _SAID):
            yield pointer


_DROPPED: Final = (
    ("read_only", False, "readonly-hint-dropped", "readOnlyHint"),
    ("destructive", True, "destructive-hint-added", "destructiveHint"),
    ("idempotent", False, "idempotent-hint-dropped", "idempotentHint"),
)
"""Hints, and the value with which a caller can rely on less."""


def _hints(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    yield from _safety(pair, old.annotations, new.annotations)
    if old.annotations.open_world != new.annotations.open_world:
        text = f"openWorldHint is {str(new.annotations.open_world).lower()} now"
        pointer = "/post/x-mcp/annotations/openWorldHint"
        yield pair.change("open-world-hint-changed", text, pointer)
    yield from _effect(pair, old.effect, new.effect)


def _safety(pair: _Pair, old: Annotations, new: Annotations) -> Iterator[ContractChange]:
    for name, worse, rule, hint in _DROPPED:
        value = getattr(new, name)
        if getattr(old, name) != value:
            found = rule if value is worse else "hint-relaxed"
            text = f"{hint} is {str(value).lower()} now"
            yield pair.change(found, text, f"/post/x-mcp/annotations/{hint}")


_ORDER: Final = (Effect.READ, Effect.WRITE, Effect.DESTROY)


def _effect(pair: _Pair, old: Effect, new: Effect) -> Iterator[ContractChange]:
    if _ORDER.index(new) > _ORDER.index(old):
        text = f"the effect is {new.value}, and was {old.value}"
        yield pair.change("effect-raised", text, "/post/x-policy/effect")


def _results(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    was, is_ = _says(old.output_schema), _says(new.output_schema)
    if was and not is_:
        yield pair.change("output-schema-removed", "the result may be anything", _RESULT)
    if is_ and not was:
        yield pair.change("output-schema-added", "the result has a schema now", _RESULT)
    forms = [(set(t.file_types), t.text_member, t.has_blocks) for t in (old, new)]
    if forms[0] != forms[1]:
        text = "results come as JSON, text, a file or content blocks: not as before"
        yield pair.change("result-form-changed", text, "/post/responses/200/content")


def _says(schema: Mapping[str, Any]) -> bool:
    """Whether a schema says more than that the value is an object."""
    return bool(schema.keys() - {"type", "title", "description", "examples"})


def _arguments(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    before = dict(subschemas(old.input_schema))
    for pointer, schema in subschemas(new.input_schema):
        was = before.get(pointer)
        if was is None:
            continue
        name, place = steps(pointer)[-1] if pointer else "the arguments", f"{_ARGUMENTS}{pointer}"
        if was.get("default") != schema.get("default"):
            text = f"the default of {name} is {_shown(schema)}, and was {_shown(was)}"
            yield pair.change("default-changed", text, f"{place}/default")
        yield from _ending(pair, name, was.get("deprecated"), schema.get("deprecated"), place)


def _ending(
    pair: _Pair, name: str, old: object, new: object, pointer: str
) -> Iterator[ContractChange]:
    if bool(old) != bool(new):
        rule = "deprecated" if new else "deprecation-withdrawn"
        text = f"{name} is {'deprecated now' if new else 'not deprecated any more'}"
        yield pair.change(rule, text, pointer)


def _end(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    was, is_ = old.deprecation, new.deprecation
    yield from _ending(pair, "the tool", was, is_, "/post/x-deprecation")
    if was and is_ and was.sunset and is_.sunset and is_.sunset < was.sunset:
        text = f"it ends on {is_.sunset}, and {was.sunset} was said"
        yield pair.change("sunset-earlier", text, "/post/x-deprecation/sunset")


def _shown(schema: Mapping[str, Any]) -> str:
    return msgspec.json.encode(schema["default"]).decode() if "default" in schema else "none"


def _errors(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    before = {each.reason: each.status for each in old.errors}
    now = {each.reason: each.status for each in new.errors}
    for reason in sorted(before.keys() | now.keys()):
        pointer = child("/post/x-policy/errors", reason)
        if reason not in before:
            text = f"the error {reason} ({now[reason]}) is new"
            yield pair.change("error-type-added", text, pointer)
        elif reason not in now:
            yield pair.change("error-type-removed", f"the error {reason} is gone", pointer)
        elif before[reason] != now[reason]:
            text = f"the status of {reason} is {now[reason]}, and was {before[reason]}"
            yield pair.change("error-status-changed", text, f"{pointer}/status")


def _demands(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    for each in sorted({*new.requires} - {*old.requires}):
        text = f"clients must declare {each}"
        yield pair.change("client-requirement-added", text, "/post/x-mcp/requires")
    if old.escalation != new.escalation and new.escalation is not None:
        text = f"with {new.escalation.when}: true, a call needs {new.escalation.grant} too"
        yield pair.change("escalation-changed", text, "/post/x-policy/escalation")
    yield from _exposed(pair, old.sensitive, new.sensitive)


def _exposed(pair: _Pair, old: Sequence[str], new: Sequence[str]) -> Iterator[ContractChange]:
    for pointer in sorted({*old} - {*new}):
        text = f"the argument {pointer} is no longer marked x-sensitive"
        yield pair.change("sensitive-argument-exposed", text, _ARGUMENTS)


def _policy(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    yield from _limits(pair, old.limits, new.limits)
    yield from _patience(pair, old.timeout_seconds, new.timeout_seconds)
    yield from _task(pair, old.task, new.task)
    if (old.cache_seconds, old.stale_seconds) != (new.cache_seconds, new.stale_seconds):
        text = f"results are kept for {new.cache_seconds:g} s, and were for {old.cache_seconds:g} s"
        yield pair.change("cache-changed", text, "/post/x-policy/cache")
    if new.is_cache_public and not old.is_cache_public:
        text = "all callers get the same result"
        yield pair.change("cache-made-public", text, "/post/x-policy/cache/scope")
    if old.attempts != new.attempts:
        text = f"{amount(new.attempts.max, 'attempt')} at most, before {old.attempts.max}"
        yield pair.change("attempts-changed", text, "/post/x-policy/attempts")


def _patience(pair: _Pair, old: float, new: float) -> Iterator[ContractChange]:
    if new < old:
        text = f"a call may take {new:g} s, and could take {old:g} s"
        yield pair.change("timeout-lowered", text, "/post/x-policy/timeoutSeconds")


def _task(pair: _Pair, old: str, new: str) -> Iterator[ContractChange]:
    if old != new:
        text = f"task is {new}, and was {old}"
        yield pair.change("task-mode-changed", text, "/post/x-policy/task")


def _limits(
    pair: _Pair,
    old: ToolLimits | AgentLimits | None,
    new: ToolLimits | AgentLimits | None,
    pointer: str = "/post/x-policy/limits",
) -> Iterator[ContractChange]:
    """A change for each limit that is new, or lower than it was."""
    windows = old.calls if old else ()
    for window in new.calls if new else ():
        if not _is_as_free(window, windows):
            text = f"{amount(window.max, 'call')} in {amount(window.seconds, 'second')} at most"
            yield pair.change("rate-limit-lowered", text, f"{pointer}/calls")
    for name in ("concurrent", "budget"):
        was, is_ = getattr(old, name, None), getattr(new, name, None)
        if is_ is not None and (was is None or is_ < was):
            text = f"{name} is {is_}, and was {'unlimited' if was is None else was}"
            yield pair.change("rate-limit-lowered", text, f"{pointer}/{name}")
    cost, costs = getattr(old, "cost", 1), getattr(new, "cost", 1)
    if costs > cost:
        text = f"a call takes {costs} of the budget of its agent, and took {cost}"
        yield pair.change("rate-limit-lowered", text, f"{pointer}/cost")


def _is_as_free(window: CallWindow, before: Iterable[CallWindow]) -> bool:
    """Whether a former limit refuses all that `window` refuses.

    At most `max` calls in a longer time are at most `max` calls in a shorter one.
    """
    return any(each.max <= window.max and each.seconds >= window.seconds for each in before)


def _binding(pair: _Pair, old: ToolContract, new: ToolContract) -> Iterator[ContractChange]:
    was, is_ = _answering(old.x_binding), _answering(new.x_binding)
    if was != is_:
        text = f"{is_} answers, and {was} did"
        yield pair.change("binding-operation-changed", text, "/post/x-binding")
    elif tool_facets(old).binding != tool_facets(new).binding and old.attempts == new.attempts:
        yield pair.change("binding-changed", "the field map is another one", "/post/x-binding")


def _answering(binding: Mapping[str, Any]) -> str:
    if "python" in binding:
        return str(binding["python"])
    return f"{binding.get('upstream', '')}.{binding.get('operationId', '')}"


_OF_TOOLS: Final[
    tuple[Callable[[_Pair, ToolContract, ToolContract], Iterator[ContractChange]], ...]
] = (
    _names,
    _texts,
    _hints,
    _results,
    _arguments,
    _end,
    _errors,
    _demands,
    _policy,
    _binding,
)


# Tools of imported documents. What they accept and answer with is compared with their documents.


def _imported(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    before = {tool.id: tool for each in old.imported for tool in each.operations}
    now = {tool.id: tool for each in new.imported for tool in each.operations}
    for id_ in before.keys() & now.keys():
        yield from _import(_Pair(subject=id_), before[id_], now[id_])


def _import(pair: _Pair, old: ImportedTool, new: ImportedTool) -> Iterator[ContractChange]:
    yield from _own_texts(pair, old, new)
    yield from _effect(pair, old.effect, new.effect)
    yield from _limits(pair, old.limits, new.limits)
    yield from _patience(pair, old.policy.timeout_seconds, new.policy.timeout_seconds)
    yield from _task(pair, old.policy.task, new.policy.task)
    yield from _exposed(pair, old.sensitive, new.sensitive)


# Resources, prompts, agents, upstreams and lists.


def _offered(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    uris = {each.uri for each in new.offered.resources}
    for each in old.offered.resources:
        if each.uri not in uris:
            pair = _Pair(subject=each.grant)
            yield pair.change("resource-removed", f"the resource {each.uri} is gone")
    prompts = {(each.connector, each.name) for each in new.offered.prompts}
    for prompt in old.offered.prompts:
        if (prompt.connector, prompt.name) not in prompts:
            pair = _Pair(subject=prompt.grant)
            yield pair.change("prompt-removed", f"the prompt {prompt.name} is gone")


def _agents(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    was, is_ = old.policies, new.policies
    tools = _ids(old) & _ids(new)
    for agent, before in was.grants.items():
        pair = _Pair(subject=f"agent {agent}", old=was.source, new=is_.source)
        pointer = child("/agents", agent)
        if agent not in is_.grants:
            yield pair.change("agent-removed", f"the agent {agent} is gone", pointer)
            continue
        now = is_.grants[agent]
        for id_ in sorted(({*now} - {*before}) & tools):
            text = f"{agent} is granted {id_}"
            yield pair.change("agent-grant-added", text, f"{pointer}/grants")
        for id_ in sorted(({*before} - {*now}) & tools):
            text = f"{agent} is no longer granted {id_}"
            yield pair.change("agent-grant-removed", text, f"{pointer}/grants")
        limits = f"{pointer}/limits"
        yield from _limits(pair, was.limits.get(agent), is_.limits.get(agent), limits)


def _ids(contracts: Contracts) -> set[str]:
    """The ids of all tools."""
    imported = {tool.id for each in contracts.imported for tool in each.operations}
    return imported | {tool.id for tool in contracts.tools}


def _upstreams(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    before = {each.upstream.name: each for each in old.upstreams}
    for each in new.upstreams:
        if each.upstream.name in before:
            yield from _upstream(before[each.upstream.name], each)


def _upstream(old: UpstreamContract, new: UpstreamContract) -> Iterator[ContractChange]:
    pair = _Pair(subject=f"upstream {new.upstream.name}", old=old.source, new=new.source)
    was, is_ = old.upstream, new.upstream
    if was.base_url != is_.base_url:
        text = f"requests go to {is_.base_url}, and went to {was.base_url}"
        yield pair.change("upstream-address-changed", text, "/servers")
    for name in sorted(_needed(is_.credentials) - _needed(was.credentials)):
        yield pair.change("credential-added", f"the credential {name} has to be set")
    for name in sorted(_unset(is_.settings) - _unset(was.settings)):
        yield pair.change("setting-added", f"the setting {name} has to be set")
    for scope in sorted(_scopes(is_) - _scopes(was)):
        yield pair.change("scope-added", f"access tokens are requested with the scope {scope}")
    for operation in is_.operations:
        known_as = was.find(operation.id)
        if known_as and known_as.idempotency_header and not operation.idempotency_header:
            text = f"{operation.id} has no x-idempotency-header"
            yield pair.change("idempotency-header-dropped", text)


def _needed(credentials: Iterable[CredentialRule]) -> set[str]:
    return {each.name for each in credentials if each.is_required}


def _unset(settings: Iterable[SettingRule]) -> set[str]:
    return {each.name for each in settings if each.default is None}


def _scopes(upstream: Upstream) -> set[str]:
    return {scope for token in upstream.tokens for scope in token.scopes}


def _lists(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    before, now = _list_bytes(old), _list_bytes(new)
    if now - before > LIST_BUDGET:
        tokens = (now - before) // _BYTES_OF_TOKEN
        text = f"the list of all tools grew from {before:,} to {now:,} bytes, about {tokens:,}"
        yield _Pair(subject="tools/list").change("tools-list-grew", f"{text} tokens")
    changed = {tool.id: tool for tool in new.tools if tool not in old.tools}
    known = {each.message for each in client_findings(_only(old, changed))}
    for finding in client_findings(_only(new, changed)):
        if finding.rule != "client/long-list" and finding.message not in known:
            tool = next(each for each in changed.values() if str(each.source.path) == finding.path)
            pair = _Pair(subject=tool.id, new=tool.source)
            yield pair.change("client-profile-violated", finding.message)


def _list_bytes(contracts: Contracts) -> int:
    """The bytes of the tools with contract files in `tools/list`, without blanks."""
    return len(canonical(msgspec.json.decode(tools_json(contracts).text)).encode())


def _only(contracts: Contracts, ids: Container[str]) -> Contracts:
    tools = tuple(tool for tool in contracts.tools if tool.id in ids)
    return msgspec.structs.replace(contracts, tools=tools, imported=())


# Webhooks and events.


def _webhooks(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    before = {each.provider: each for each in old.webhooks}
    for each in new.webhooks:
        known = before.get(each.provider)
        if known is not None:
            yield from _webhook(known, each)


def _webhook(old: WebhookContract, new: WebhookContract) -> Iterator[ContractChange]:
    pair = _Pair(subject=new.provider, old=old.source, new=new.source)
    if (old.title, old.description) != (new.title, new.description):
        text = "the title or the description is another text"
        yield pair.change("webhook-description-changed", text, "/post/description")
    was, is_ = old.x_webhook, new.x_webhook
    for name in sorted(was["profiles"]):
        profile = is_["profiles"].get(name)
        yield from _profile(pair, name, was["profiles"][name], profile)
    yield from _room(pair, was, is_)
    for name, setting in is_.get("settings", {}).items():
        if "default" not in setting and name not in was.get("settings", {}):
            pointer = child(f"{_WEBHOOK}/settings", name)
            yield pair.change("setting-added", f"the setting {name} has to be set", pointer)
    yield from _messages(pair, was["events"], is_["events"])


_WEBHOOK: Final = "/post/x-webhook"
_DEDUPE: Final = ("messageId", "sameBytes", "tenant")
_READING: Final = ("eventType", "body", "challenge")


def _profile(
    pair: _Pair, name: str, old: Mapping[str, Any], new: Mapping[str, Any] | None
) -> Iterator[ContractChange]:
    pointer = child(f"{_WEBHOOK}/profiles", name)
    if new is None:
        yield pair.change("webhook-signature-changed", f"the profile {name} is gone", pointer)
        return
    if old.get("authentication") != new.get("authentication"):
        text = f"messages of the profile {name} are authenticated otherwise"
        yield pair.change("webhook-signature-changed", text, f"{pointer}/authentication")
    for member in _DEDUPE:
        if old.get(member) != new.get(member):
            text = f"{member} of the profile {name} is another one"
            yield pair.change("webhook-dedupe-changed", text, f"{pointer}/{member}")
    for member in _READING:
        if old.get(member) != new.get(member):
            text = f"{member} of the profile {name} is another one"
            yield pair.change("webhook-reading-changed", text, f"{pointer}/{member}")


_WHOLE_BODY: Final = 1024 * 1024
"""The default of `maxBodyBytes`."""


def _room(pair: _Pair, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[ContractChange]:
    was, is_ = (each.get("maxBodyBytes", _WHOLE_BODY) for each in (old, new))
    if is_ < was:
        text = f"bodies may have {is_:,} bytes, and could have {was:,}"
        yield pair.change("webhook-limit-lowered", text, f"{_WEBHOOK}/maxBodyBytes")
    for name in ("perSecond", "burst"):
        before, now = (each.get("rate", {}).get(name) for each in (old, new))
        if now is not None and (before is None or now < before):
            text = f"{name} is {now:g}, and was {'the default' if before is None else before}"
            yield pair.change("webhook-limit-lowered", text, f"{_WEBHOOK}/rate/{name}")
    if {*old.get("contentEncodings", ())} - {*new.get("contentEncodings", ())}:
        text = "compressed bodies are refused"
        yield pair.change("webhook-reading-changed", text, f"{_WEBHOOK}/contentEncodings")


def _messages(
    pair: _Pair, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[ContractChange]:
    for name in sorted(old.keys() & new.keys()):
        if old[name] != new[name]:
            pointer = child(f"{_WEBHOOK}/events", name)
            yield from _message(pair, name, (old[name], new[name]), pointer)


def _message(
    pair: _Pair, name: str, rules: tuple[Mapping[str, Any], Mapping[str, Any]], pointer: str
) -> Iterator[ContractChange]:
    old, new = rules
    for profile in sorted({*old.get("profiles", ())} - {*new.get("profiles", old["profiles"])}):
        text = f"{name} may no longer arrive by the profile {profile}"
        yield pair.change("webhook-signature-changed", text, f"{pointer}/profiles")
    was, is_ = old.get("emits"), new.get("emits")
    if was and was["event"] != (is_ or {}).get("event"):
        text = f"{name} no longer publishes {was['event']}"
        yield pair.change("event-source-lost", text, f"{pointer}/emits")
    elif was and is_ and was.get("subject") != is_.get("subject"):
        text = f"the subject of {was['event']} is {is_.get('subject')}, and was {was['subject']}"
        yield pair.change("event-subject-changed", text, f"{pointer}/emits/subject")
    behind = [
        {key: each for key, each in side.items() if key not in {"payload", "profiles"}}
        for side in rules
    ]
    if behind[0] != behind[1]:
        text = f"{name} has other effects"
        yield pair.change("webhook-effects-changed", text, pointer)


def _events(old: Contracts, new: Contracts) -> Iterator[ContractChange]:
    before = {each.event.type: each for each in old.events}
    for each in new.events:
        known = before.get(each.event.type)
        if known is not None:
            yield from _event(known, each)


def _event(old: EventContract, new: EventContract) -> Iterator[ContractChange]:
    pair = _Pair(subject=new.event.type, old=old.source, new=new.source)
    if event_facets(old).description != event_facets(new).description:
        text = "the title, the description or a text of the data changed"
        yield pair.change("event-description-changed", text, "/post/description")
    if schema_digest(old.event.schema) != schema_digest(new.event.schema):
        text = f"the schema of {new.event.type} changed under the same version"
        yield pair.change("event-changed-without-version", text)
