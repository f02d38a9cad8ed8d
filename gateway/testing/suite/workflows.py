"""Workflows: each holds what it promises, over every transport, with the same answers."""

from collections.abc import Callable

from gateway.testing.records import CHECKS, as_property
from gateway.testing.workflows import WorkflowPasses

__all__ = ["test_a_workflow_holds_over_every_transport"]


def test_a_workflow_holds_over_every_transport(
    gateway_workflow_passes: WorkflowPasses,
    gateway_workflow: str,
    record_property: Callable[[str, object], None],
) -> None:
    """The first condition that is not met is named, with what it has read, and all calls so far."""
    checks = gateway_workflow_passes.checks(gateway_workflow)
    record_property(CHECKS, as_property(checks))
    failed = [each for each in checks if each.text]
    replays = [failed[0].replay.curl, failed[0].replay.rpc] if failed else []
    shown = [f"{each.path}:{each.line}: {each.text}" for each in failed]
    assert not failed, "\n".join([*shown, *filter(None, replays)])
