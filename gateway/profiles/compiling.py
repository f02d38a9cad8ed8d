"""Compiles the schemas that a client is shown. They admit every object that the source admits."""

from typing import Any

from gateway.profiles.clients import ClientProfile
from gateway.profiles.inlining import inlined
from gateway.profiles.limits import within
from gateway.profiles.rules import SchemaRule
from gateway.profiles.walking import mapped

Schema = dict[str, Any]


def published_input(schema: Schema, profile: ClientProfile) -> Schema:
    """The input schema that `profile` is shown in the place of `schema`.

    It is widened where the client cannot say it, never narrowed. Calls are validated with `schema`.
    """
    return schema if profile.is_source else widened_input(inlined(schema), profile)


def widened_input(whole: Schema, profile: ClientProfile) -> Schema:
    """As `published_input`, of a schema without references."""
    found = _widened(whole, profile.rules, is_root=True)
    return found if profile.limits is None else within(found, profile.limits)


def published_output(schema: Schema, profile: ClientProfile) -> Schema:
    """The output schema that `profile` is shown in the place of `schema`. See `published_input`."""
    if profile.is_source or not profile.output_rules:
        return schema
    return _widened(inlined(schema), profile.output_rules, is_root=True)


def _widened(schema: Schema, rules: tuple[SchemaRule, ...], *, is_root: bool) -> Schema:
    for rule in rules:
        if rule.widened is None or (rule.is_root and not is_root):
            continue
        if next(rule.found(schema), None) is not None:
            schema = rule.widened(schema)
    return mapped(schema, lambda _, part: _widened(part, rules, is_root=False))
