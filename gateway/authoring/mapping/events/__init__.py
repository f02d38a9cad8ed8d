"""Parses, checks and compiles the events of `x-webhook`."""

from gateway.authoring.mapping.events.check import check
from gateway.authoring.mapping.events.compile import compile_event
from gateway.authoring.mapping.events.language import EventBasis

__all__ = ["EventBasis", "check", "compile_event"]
