"""The lint: all checks of the contracts in one list."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gateway.authoring.contracts.cache import Remember, uncached
from gateway.authoring.contracts.finding import Finding, ordered
from gateway.authoring.contracts.tree import SourceTree
from gateway.authoring.lint import (
    access,
    bindings,
    entities,
    events,
    files,
    grants,
    offered,
    policies,
    schemas,
    texts,
    tools,
    upstreams,
    workflows,
)
from gateway.authoring.lint.behaviour_rules import Rule
from gateway.authoring.lint.bindings import check_meaning
from gateway.authoring.lint.draft import Draft, unsound_files
from gateway.authoring.lint.events import check_events
from gateway.authoring.lint.policies import without_waived
from gateway.authoring.lint.rules import RULES
from gateway.contract.connector import HANDLER_PACKAGES

__all__ = ["CHECKS", "DEEP_CHECKS", "RULES", "Rule", "lint"]

Check = Callable[[Draft], Iterator[Finding]]
DeepCheck = Callable[[Draft, frozenset[PurePosixPath]], Iterator[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    files.check_presence,
    files.check_places,
    files.check_paths,
    files.check_lists,
    files.check_unused,
    files.check_shapes,
    files.check_meta_copies,
    files.check_targets,
    files.check_common,
    files.check_rows,
    files.check_expansions,
    schemas.check_dialects,
    schemas.check_keywords,
    schemas.check_amber_forms,
    schemas.check_formats,
    schemas.check_patterns,
    schemas.check_validity,
    schemas.check_required,
    schemas.check_satisfiability,
    schemas.check_values,
    schemas.check_numbers,
    schemas.check_unique_items,
    schemas.check_roots,
    schemas.check_anchors,
    schemas.check_property_names,
    schemas.check_descriptions,
    schemas.check_closed,
    tools.check_names,
    tools.check_collisions,
    tools.check_succession,
    tools.check_schema_files,
    tools.check_tags,
    tools.check_words,
    tools.check_annotations,
    tools.check_queries,
    tools.check_examples,
    tools.check_marks,
    tools.check_header_parameters,
    tools.check_personal,
    policies.check_administrator,
    grants.check_grants,
    policies.check_profiles,
    policies.check_limits,
    policies.check_budgets,
    policies.check_declared_errors,
    policies.check_attempts,
    policies.check_cache,
    policies.check_cached_facts,
    policies.check_task,
    policies.check_plain_text,
    tools.check_files,
    tools.check_blocks,
    tools.check_blocks_copy,
    policies.check_requires,
    policies.check_asks,
    policies.check_escalation,
    upstreams.check_names,
    upstreams.check_operations,
    upstreams.check_parameters,
    upstreams.check_replies,
    upstreams.check_shared_bodies,
    access.check_names,
    access.check_security,
    access.check_settings,
    access.check_templates,
    access.check_tokens,
    access.check_encodings,
    access.check_refusals,
    access.check_rows,
    access.check_operations,
    upstreams.check_tables,
    texts.check_texts,
    texts.check_addresses,
    bindings.check_upstreams,
    bindings.check_error_codes,
    bindings.check_fallbacks,
    bindings.check_handlers,
    bindings.check_signatures,
    bindings.check_resources,
    offered.check_names,
    offered.check_files,
    offered.check_uris,
    offered.check_variables,
    offered.check_tools,
    offered.check_placeholders,
    offered.check_values,
    entities.check_types,
    entities.check_tools,
    events.check_event_names,
    events.check_examples,
    events.check_webhook_names,
    events.check_payload_files,
    events.check_request_bodies,
    events.check_openness,
    events.check_profiles,
    events.check_schemes,
    events.check_samples,
    events.check_challenges,
    events.check_ignored,
    events.check_stored_headers,
    events.check_settings,
    workflows.check_workflows,
)
"""Each yields the violations of the rules that its docstring names."""
DEEP_CHECKS: Final[tuple[DeepCheck, ...]] = (
    entities.check_columns,
    entities.check_keys,
    entities.check_owners,
    entities.check_states,
    entities.check_calls,
    entities.check_inherits,
    upstreams.check_views,
    events.check_envelopes,
    events.check_places,
)
"""Checks that compare schemas. They skip the files in which `CHECKS` found errors."""


def lint(
    tree: SourceTree,
    remember: Remember = uncached,
    packages: Sequence[str] = HANDLER_PACKAGES,
) -> tuple[Finding, ...]:
    """All findings of `tree`, sorted by file and line, including files that could not be read.

    `remember` may cache the checks of bindings and events. `packages` are the connector packages:
    contracts may name Python code only from these.
    """
    draft = Draft(tree, packages)
    found = [*tree.findings, *(each for check in CHECKS for each in check(draft))]
    found = [*without_waived(draft, found)]
    unsound = unsound_files(found)
    found += [each for check in DEEP_CHECKS for each in check(draft, unsound)]
    unsound = unsound_files(found)
    compared = [*check_meaning(draft, unsound, remember), *check_events(draft, unsound, remember)]
    return ordered([*found, *compared])
