"""`gateway lint`."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import click
from rich.text import Text

from gateway.amounts import amount
from gateway.authoring.codegen.acceptance import client_findings, proofs_of
from gateway.authoring.codegen.imported import imported_records, overlay_notes, with_imported
from gateway.authoring.codegen.ir import Contracts
from gateway.authoring.codegen.lowering import lower
from gateway.authoring.codegen.snapshot import renderings
from gateway.authoring.contracts.finding import ContractRefused, Finding, errors, ordered
from gateway.authoring.contracts.tree import SourceTree, read_tree
from gateway.authoring.diff.facets import contract_facets
from gateway.authoring.lint import RULES, lint
from gateway.authoring.mapping.fields import Coverage, Proof
from gateway.authoring.versions.bumps import version_findings
from gateway.authoring.versions.history import History
from gateway.authoring.versions.lock import read_lock
from gateway.cli.authoring.findings import Form, print_findings
from gateway.cli.options import project_folder, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.problems import FINDINGS, OK
from gateway.cli.project import check_contracts, note_unfinished
from gateway.settings import Settings

_RESULT: Final = "the result"
_COLOURS: Final = {Coverage.PROVED: "green", Coverage.GAP: "red", Coverage.UNDECIDED: "yellow"}


def print_proofs(contracts: Contracts, *, as_json: bool) -> None:
    """Print the proofs, as a table or as JSON."""
    proofs = list(proofs_of(contracts))
    if as_json:
        print_json(proofs)
        return
    columns = ("operation", "field", "from", "verdict", "may arrive", "then", "because")
    print_table(columns, (_row(each.operation, each.proof) for each in proofs))
    counts = {
        verdict: sum(each.proof.verdict is verdict for each in proofs) for verdict in Coverage
    }
    print(", ".join(f"{number} {verdict.value}" for verdict, number in counts.items()))


def _row(operation: str, proof: Proof) -> tuple[str | Text, ...]:
    return (
        operation,
        proof.field if proof.side == _RESULT else f"{proof.field} of {proof.side}".strip(),
        proof.source,
        Text(proof.verdict.value, style=_COLOURS[proof.verdict]),
        proof.witness or "",
        f"onGap: {proof.on_gap}" if proof.on_gap else "",
        proof.reason,
    )


@click.command(epilog="Example: gateway lint --sarif > lint.sarif")
@click.option("--json", "form", flag_value="json", help="Print JSON for programs.")
@click.option("--sarif", "form", flag_value="sarif", help="Print SARIF 2.1.0 for code hosts.")
@click.option("--errors-only", is_flag=True, help="Print errors only, no notes.")
@click.option("--notes", is_flag=True, help="Also print notes that need no change.")
@click.option("--bindings", is_flag=True, help="Print the proof of each mapped field.")
@click.option("--rules", is_flag=True, help="Print the rules instead of checking them.")
@settings_options("schemas", "server_name")
def command(
    *,
    form: Form | None,
    errors_only: bool,
    notes: bool,
    bindings: bool,
    rules: bool,
    **flags: Any,
) -> int:
    """Check the contracts: exit code 0 for none, 1 for findings, 2 if they cannot be read."""
    if rules:
        _print_rules(form)
        return OK
    settings = settings_of(flags)
    schemas = settings.schemas
    check_contracts(settings)
    note_unfinished(settings)
    with progress("lint") as step:
        step(f"reading {schemas}")
        tree = read_tree(schemas)
        step(f"checking {amount(len(tree.documents), 'file')}")
        findings: Sequence[Finding] = lint(tree, packages=settings.handler_packages)
        contracts: Contracts | None = None
        if not errors(findings):
            contracts, more = _contracts(tree, settings, step)
            findings = ordered([*findings, *more, *_versions(contracts, settings, step)])
    refusals = errors(findings)
    if bindings and contracts is not None:
        print_proofs(contracts, as_json=form == "json")
    else:
        shown = refusals if errors_only else findings
        print_findings(shown, schemas, form or "text", everything=notes)
    return FINDINGS if refusals else OK


def _contracts(
    tree: SourceTree, settings: Settings, step: Callable[[str], None]
) -> tuple[Contracts | None, Sequence[Finding]]:
    """The contracts with the imported documents, and what the lint alone cannot find of them.

    Raises `ContractError` for what has no place in a file.
    """
    # What `gateway generate` has lowered from the same documents is not lowered again.
    known = renderings(settings.schemas).remember
    try:
        contracts = with_imported(lower(tree), imported_records(settings.schemas, known, step))
    except ContractRefused as error:
        return None, error.findings
    step("checking what clients are shown")
    shown = client_findings(contracts, settings.server_name)
    return contracts, [*shown, *overlay_notes(settings.schemas, known)]


def _versions(
    contracts: Contracts | None, settings: Settings, step: Callable[[str], None]
) -> Sequence[Finding]:
    """What `contracts.lock` lacks, if the project has one."""
    folder = project_folder(settings)
    try:
        recorded = read_lock(folder)
    except ContractRefused as refused:
        return refused.findings
    if recorded is None or contracts is None:
        return ()
    step("comparing contracts.lock")
    history = History(
        folder=folder, schemas=settings.schemas, packages=settings.handler_packages, step=step
    )
    facets = contract_facets(contracts)
    return tuple(version_findings(recorded, facets, *history.releases()))


def _print_rules(form: Form | None) -> None:
    if form == "json":
        print_json(RULES)
        return
    rows = ((rule.id, rule.severity.value, rule.meaning, rule.fix) for rule in RULES)
    print_table(("rule", "severity", "meaning", "fix"), rows)
