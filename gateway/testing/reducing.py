"""A failure on the smallest arguments that fail for the same cause, each judged anew."""

from gateway.testing.cases import Case
from gateway.testing.gateways import Faces
from gateway.testing.generation import expected
from gateway.testing.judging import Disagreement, Verdict
from gateway.testing.shrinking import shrunk


def failed_of(verdicts: list[Verdict]) -> list[Verdict]:
    """Those that failed."""
    return [each for each in verdicts if each.outcome == "failed"]


def cause_of(verdicts: list[Verdict]) -> str:
    """Equal for failures that look alike: the oracle and the transports."""
    return ", ".join(f"{each.oracle} at {each.transport}" for each in failed_of(verdicts))


async def reduced(faces: Faces, case: Case) -> list[Verdict]:
    """What fails on the least arguments. Empty: it does not fail again.

    The authority says anew what must come of each candidate.
    """
    entry = faces.catalogue.find(case.contract)
    first = failed_of(await faces.verdicts(case))
    if not first:
        return []

    def with_text(text: bytes) -> Case:
        return Case(case.contract, text, case.origin, case.expectation)

    async def still_fails(text: bytes) -> bool:
        if expected(entry, text) != case.expectation:
            return False
        return cause_of(await faces.verdicts(with_text(text))) == cause_of(first)

    least = await shrunk(case.arguments, still_fails)
    return failed_of(await faces.verdicts(with_text(least))) or first


async def must_agree(faces: Faces, case: Case) -> None:
    """Raise `Disagreement`, on the least arguments, if a verdict on `case` is a failure."""
    verdicts = await faces.verdicts(case)
    if failed_of(verdicts):
        raise Disagreement(await reduced(faces, case) or verdicts)
