"""What an event of a webhook does: read from `x-webhook`, checked, and compiled to Python."""

from gateway.codegen.eventmap.check import check
from gateway.codegen.eventmap.compile import compile_event
from gateway.codegen.eventmap.nodes import EventBasis

__all__ = ["EventBasis", "check", "compile_event"]
