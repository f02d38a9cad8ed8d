"""Parses, checks and compiles the events of `x-webhook`."""

from gateway.mapping.events.check import check
from gateway.mapping.events.compile import compile_event
from gateway.mapping.events.language import EventBasis

__all__ = ["EventBasis", "check", "compile_event"]
