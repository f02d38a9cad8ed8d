"""`gateway vectors`."""

from pathlib import Path
from typing import Any, Final

import click

from gateway.amounts import amount
from gateway.cli.authoring.generate import unlike_contracts
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import check_project, open_project
from gateway.errors import ConfigurationError
from gateway.testing.kept_vectors import ContractSchema, schemas_of, vectors_for, written
from gateway.testing.vectors import LEAST_SCORE, Vectors

_COLUMNS: Final = (
    *("schema", "vectors", "killed", "equivalent", "undecided", "survivors"),
    *("score", "keywords", "seconds"),
)


@click.command(epilog="Example: gateway vectors avinode.search_flights --keep")
@click.argument("names", nargs=-1)
@click.option("--keep", is_flag=True, help="Write the vectors beside the schemas.")
@settings_options("schemas", "package", "handler_packages")
@json_option
def command(*, names: tuple[str, ...], keep: bool, as_json: bool, **flags: Any) -> int:
    """Make the test vectors of contracts, and print what they tell from near mistakes.

    NAMES are tools, webhooks (provider.event) or events. Without them, all are made. Each vector is
    a small value that the schema admits and a mutant with one other keyword refuses, or the other
    way round. Exit code 1 if fewer than 95 % of a schema's decidable mutants are told, or no value
    is valid.
    """
    settings = settings_of(flags)
    check_project(settings)
    if unlike := unlike_contracts(settings):
        click.echo(unlike, err=True)
        return FINDINGS
    wanted = _named([*schemas_of(open_project(settings), settings)], names)
    found: list[tuple[ContractSchema, Vectors]] = []
    with progress("vectors") as report:
        for contract in wanted:
            report(contract.subject)
            found.append((contract, vectors_for(contract, settings.schemas, is_new=keep)))
    if keep:
        _keep(found, settings.schemas)
    if as_json:
        print_json([vectors.coverage(contract.subject) for contract, vectors in found])
    else:
        _print(found)
    return OK if all(vectors.score >= LEAST_SCORE for _, vectors in found) else FINDINGS


def _named(known: list[ContractSchema], names: tuple[str, ...]) -> list[ContractSchema]:
    for name in names:
        if not any(each.subject.rpartition(" ")[0] == name for each in known):
            raise ConfigurationError(f"there is no contract {plain(name)}; see `gateway tools`")
    return [each for each in known if not names or each.subject.rpartition(" ")[0] in names]


def _keep(found: list[tuple[ContractSchema, Vectors]], folder: Path) -> None:
    for contract, vectors in found:
        if (folder / contract.path).is_file():
            text = written(contract, vectors.vectors)
            (folder / contract.vectors_path).write_text(text, "utf-8")
        else:
            click.echo(plain(f"not kept: {contract.subject} has no schema file"), err=True)


def _print(found: list[tuple[ContractSchema, Vectors]]) -> None:
    print_table(_COLUMNS, [_row(contract, vectors) for contract, vectors in found])
    for contract, vectors in found:
        if vectors.is_unsatisfiable:
            click.echo(plain(f"error: {contract.subject}: no value is valid under the schema"))
        for text in vectors.survivors:
            click.echo(plain(f"survived: {contract.subject} {text}"))
        for text in vectors.undecided:
            click.echo(plain(f"undecided: {contract.subject} {text}"))
    killed = sum(vectors.killed for _, vectors in found)
    decidable = killed + sum(len(vectors.survivors) for _, vectors in found)
    undecided = sum(len(vectors.undecided) for _, vectors in found)
    number = sum(len(vectors.vectors) for _, vectors in found)
    click.echo(
        f"{killed} of {amount(decidable, 'decidable mutant')} killed by {amount(number, 'vector')},"
        f" {undecided} undecided"
    )


def _row(contract: ContractSchema, vectors: Vectors) -> tuple[str, ...]:
    seen = vectors.keywords - len(vectors.missed)
    numbers = (
        *(len(vectors.vectors), vectors.killed, vectors.equivalent),
        *(len(vectors.undecided), len(vectors.survivors)),
    )
    rest = f"{vectors.score:.1%}", f"{seen}/{vectors.keywords}", f"{vectors.seconds:.1f}"
    return (contract.subject, *map(str, numbers), *rest)
