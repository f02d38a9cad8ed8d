"""The lint: all checks of the contracts in one list."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Final

from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contracts.cache import Remember, uncached
from gateway.contracts.finding import Finding, ordered
from gateway.contracts.sources.tree import SourceTree
from gateway.lint import (
    contents,
    grants,
    header_parameters,
    index,
    personal,
    references,
    shape,
    texts,
)
from gateway.lint.draft import Draft
from gateway.lint.events import (
    entities,
    entity_calls,
    entity_rules,
    entity_tools,
    published,
    senders,
    webhooks,
)
from gateway.lint.events.meaning import check_events
from gateway.lint.offered import files, prompts, resources
from gateway.lint.rules.all_rules import RULES
from gateway.lint.rules.rule import Rule
from gateway.lint.soundness import unsound_files
from gateway.lint.tools import (
    access,
    bindings,
    constraints,
    examples,
    handlers,
    naming,
    patterns,
    policies,
    profile,
    promises,
    publication,
    queries,
    tables,
    upstreams,
)
from gateway.lint.tools.meaning import check_meaning
from gateway.lint.waivers import without_waived

__all__ = ["CHECKS", "DEEP_CHECKS", "RULES", "Rule", "lint"]

Check = Callable[[Draft], Iterator[Finding]]
DeepCheck = Callable[[Draft, frozenset[PurePosixPath]], Iterator[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    index.check_presence,
    index.check_places,
    index.check_paths,
    index.check_lists,
    index.check_unused,
    shape.check_shapes,
    shape.check_meta_copies,
    references.check_targets,
    references.check_common,
    references.check_rows,
    references.check_expansions,
    profile.check_dialects,
    profile.check_keywords,
    profile.check_amber_forms,
    profile.check_formats,
    patterns.check_patterns,
    constraints.check_validity,
    constraints.check_required,
    constraints.check_satisfiability,
    constraints.check_values,
    constraints.check_numbers,
    constraints.check_unique_items,
    publication.check_roots,
    publication.check_anchors,
    publication.check_property_names,
    publication.check_descriptions,
    publication.check_closed,
    naming.check_names,
    naming.check_collisions,
    naming.check_schema_files,
    naming.check_tags,
    naming.check_words,
    naming.check_annotations,
    queries.check_queries,
    examples.check_examples,
    personal.check_marks,
    header_parameters.check_header_parameters,
    personal.check_personal,
    policies.check_administrator,
    grants.check_grants,
    policies.check_profiles,
    policies.check_limits,
    policies.check_budgets,
    policies.check_declared_errors,
    promises.check_attempts,
    promises.check_cache,
    promises.check_cached_facts,
    promises.check_task,
    promises.check_plain_text,
    contents.check_files,
    contents.check_blocks,
    contents.check_blocks_copy,
    promises.check_requires,
    promises.check_asks,
    promises.check_escalation,
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
    tables.check_tables,
    texts.check_texts,
    texts.check_addresses,
    bindings.check_upstreams,
    bindings.check_error_codes,
    bindings.check_fallbacks,
    handlers.check_handlers,
    handlers.check_signatures,
    handlers.check_resources,
    files.check_names,
    files.check_files,
    resources.check_uris,
    resources.check_variables,
    resources.check_tools,
    prompts.check_placeholders,
    prompts.check_values,
    entities.check_types,
    entity_tools.check_tools,
    published.check_names,
    published.check_examples,
    webhooks.check_names,
    webhooks.check_payload_files,
    webhooks.check_request_bodies,
    webhooks.check_openness,
    webhooks.check_profiles,
    senders.check_schemes,
    senders.check_samples,
    senders.check_challenges,
    senders.check_ignored,
    webhooks.check_stored_headers,
    webhooks.check_settings,
)
"""Each yields the violations of the rules that its docstring names."""
DEEP_CHECKS: Final[tuple[DeepCheck, ...]] = (
    entities.check_columns,
    entities.check_keys,
    entity_rules.check_owners,
    entity_rules.check_states,
    entity_calls.check_calls,
    entity_calls.check_inherits,
    tables.check_views,
    published.check_envelopes,
    webhooks.check_places,
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
