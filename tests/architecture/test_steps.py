"""The records of the call pipeline are made by the step before, and by nobody else."""

import ast
from typing import Final

MAKERS: Final = {
    "Grant": "gateway/auth/authorize.py",
    "Permit": "gateway/limits/places.py",
}
"""By record, the one module that may make it."""


def made_elsewhere(sources):
    """Each place where a record is made, copied or named for making, outside its maker.

    Who may name a record in a type but not make it: a name counts when it is called, assigned,
    passed or given another name by an import.
    """
    return [
        f"{source.path}:{node.lineno} {name}"
        for source in sources
        if source.path.startswith("gateway/")
        for name, node in names_in(source.tree)
        if MAKERS[name] != source.path
    ]


def names_in(tree):
    types = {id(part) for each in ast.walk(tree) for part in types_of(each)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in MAKERS:
                if id(node) not in types:
                    yield name, node
            case ast.ImportFrom(names=names):
                yield from ((a.name, node) for a in names if a.name in MAKERS and a.asname)


def types_of(node):
    """Everything in the annotations of `node`."""
    match node:
        case ast.arg(annotation=found) | ast.AnnAssign(annotation=found) if found is not None:
            return ast.walk(found)
        case ast.FunctionDef(returns=found) | ast.AsyncFunctionDef(returns=found) if found:
            return ast.walk(found)
    return ()


def test_only_the_step_before_makes_a_record(written):
    assert made_elsewhere(written) == []


def test_the_makers_make_them(written):
    """Else the table above would name a module that does not exist any more."""
    made = {
        (name, source.path)
        for source in written
        for name, _ in names_in(source.tree)
        if source.path == MAKERS[name]
    }
    assert made == set(MAKERS.items())


def test_each_of_these_mistakes_is_found(planted):
    for text in (
        "permit = Permit(grant)\n",
        "permit = principal.Permit(grant)\n",
        "make = Permit\n",
        "permit = convert({}, type=Permit)\n",
        "from gateway.auth.principal import Permit as Pass\n",
        "grant: Grant = Grant(principal, entry)\n",
    ):
        assert made_elsewhere(planted(text)), text
    harmless = "def check(permit: Permit, grants: list[Grant]) -> Permit | None: ...\n"
    assert made_elsewhere(planted(harmless)) == []
    assert made_elsewhere(planted("Grant(a, b)\n", path=MAKERS["Grant"])) == []
