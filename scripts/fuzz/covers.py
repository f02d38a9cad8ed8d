"""Proofs that one schema admits all that another admits, judged by the authority.

A trial draws some schemas, some of them by editing another, and asks for each ordered pair. Each
value is judged once for each schema, so that many proofs are judged on many values.
"""

import itertools
import json
from random import Random
from typing import Any, Final

from authority import Authority
from outcome import EMPTY, Outcome, Verdict
from random_schemas import document, edited, known_values, near, value, world

from gateway.contract.schemas.containment import Contained, Undecided, Witness, containment
from gateway.contract.schemas.flattening import NoSample
from gateway.contract.schemas.samples import Schemas

_FRESH: Final = 4
_EDITS: Final = 4
"""Of each fresh schema."""
_VALUES: Final = 60
_SAMPLES: Final = 2
_TRIES: Final = 4
"""For each value that is drawn. Most edits of a value are values of its schema."""
_WORLD: Final = world()


def trial(seed: str) -> list[Outcome]:
    """The proofs of each ordered pair of some schemas."""
    random = Random(seed)  # noqa: S311 - repeatable by design
    schemas: list[dict[str, Any]] = []
    for _ in range(_FRESH):
        schemas.append(document(random))
        for _edit in range(_EDITS):
            schemas.append(edited(schemas[-1], random))
    values = _values(random, schemas)
    drawn = [(each, _admitted(each, values)) for each in schemas]
    schemas = [each for each, verdicts in drawn if verdicts is not None]
    admitted = [verdicts for _, verdicts in drawn if verdicts is not None]
    found = []
    for outer, inner in itertools.permutations(range(len(schemas)), 2):
        case = {"outer": schemas[outer], "inner": schemas[inner]}
        wrong = [
            each
            for each, under_outer, under_inner in zip(
                values, admitted[outer], admitted[inner], strict=True
            )
            if under_inner and not under_outer
        ]
        found.append(_outcome(case, wrong, sum(admitted[inner])))
    return found


def _admitted(schema: Any, values: list[Any]) -> list[bool] | None:
    """Which values the schema admits. None: a definition refers to itself for the same value."""
    gate = Authority(schema)
    try:
        return [gate.admits(each) for each in values]
    except RecursionError:
        return None


def judged(case: dict[str, Any], seed: str) -> Outcome:
    """One pair again."""
    values = _values(Random(seed), [case["outer"], case["inner"]])  # noqa: S311 - repeatable
    values += case.get("values", ())
    outer, inner = Authority(case["outer"]), Authority(case["inner"])
    meant = [each for each in values if inner.admits(each)]
    return _outcome(case, [each for each in meant if not outer.admits(each)], len(meant))


def schemas_of(case: dict[str, Any]) -> list[str]:
    """Both schemas may be made smaller."""
    return ["outer", "inner"] if case else []


def _outcome(case: dict[str, Any], wrong: list[Any], count: int) -> Outcome:
    """`wrong` are values that show, by the authority, that it is not contained.

    They are among `count` values of the inner schema.
    """
    try:
        found = containment(case["outer"], case["inner"])
    except Exception as error:  # noqa: BLE001 - it never raises: that is one of the claims
        return Outcome(Verdict.UNSOUND, case, f"raised {type(error).__name__}: {error}")
    match found:
        case Contained():
            if wrong:
                case = {**case, "values": wrong[:3]}
                return Outcome(Verdict.UNSOUND, case, f"contained, but not {wrong[0]!r}", count)
            return Outcome(Verdict.CONTAINED, case, "", count) if count else _searched(case)
        case Witness(value=shown):
            if Authority(case["inner"]).admits(shown) and not Authority(case["outer"]).admits(
                shown
            ):
                return Outcome(Verdict.WITNESS, case, repr(shown), 1)
            return Outcome(Verdict.UNSOUND, case, f"the authority refuses the witness {shown!r}")
        case Undecided(reason=reason):
            shown = f", but {wrong[0]!r} shows it" if wrong else ""
            return Outcome(Verdict.UNDECIDED, case, reason + shown, count)


_NOTHING: Final[dict[str, Any]] = {"not": {}}


def _searched(case: dict[str, Any]) -> Outcome:
    """A proof for which no value was drawn: judged on one that the gateway finds, if it can."""
    match containment(_NOTHING, case["inner"]):
        case Witness(value=found):
            if not Authority(case["inner"]).admits(found):
                return Outcome(Verdict.UNSOUND, case, f"the authority refuses the value {found!r}")
            if not Authority(case["outer"]).admits(found):
                case = {**case, "values": [found]}
                return Outcome(Verdict.UNSOUND, case, f"contained, but not {found!r}", 1)
            return Outcome(Verdict.CONTAINED, case, "", 1)
        case Contained():
            return Outcome(Verdict.CONTAINED, case, EMPTY)
    return Outcome(Verdict.CONTAINED, case, "no value")


def drawn(outcome: Outcome, seed: str, draws: int) -> Outcome:
    """A proof of containment, judged on `draws` different values of the inner schema.

    Each is one that is known, or is made of one by an edit. Some schemas have fewer values.
    """
    random = Random(seed)  # noqa: S311 - repeatable by design
    case = outcome.case
    outer, inner = Authority(case["outer"]), Authority(case["inner"])
    known = known_values(case["outer"], case["inner"])
    fresh = _values(random, [case["outer"], case["inner"]])
    shown = containment(_NOTHING, case["inner"])
    fresh += [shown.value] if isinstance(shown, Witness) else []
    found: list[Any] = []
    seen: set[str] = set()
    for _ in range(_TRIES * draws):
        if len(found) >= draws or not (fresh or found):
            break
        each = fresh.pop() if fresh else near(random.choice(found), random, known)
        text = json.dumps(each)
        if text in seen or not inner.admits(each):
            continue
        seen.add(text)
        found.append(each)
        if not outer.admits(each):
            case = {**case, "values": [each]}
            return Outcome(Verdict.UNSOUND, case, f"contained, but not {each!r}", len(found))
    return Outcome(Verdict.CONTAINED, case, outcome.reason, len(found))


def _values(random: Random, schemas: list[dict[str, Any]]) -> list[Any]:
    known = known_values(*schemas)
    found = [value(random, 2, known) for _ in range(_VALUES)]
    found += random.sample(_WORLD, _VALUES)
    for schema in schemas:
        samples = Schemas(schema.get("$defs", {})).samples(schema)
        try:
            found += [samples.sample("fuzz", str(number)) for number in range(_SAMPLES)]
        except NoSample:
            continue
    return found
