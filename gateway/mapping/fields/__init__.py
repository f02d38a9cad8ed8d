"""Parses, checks, proves and compiles the field maps of `x-binding`."""

from gateway.mapping.fields.analysis.coverage import Coverage
from gateway.mapping.fields.checks.check import check
from gateway.mapping.fields.checks.prove import Proof, prove
from gateway.mapping.fields.language.nodes import BindingSource, MappingError
from gateway.mapping.fields.language.parse import has_map
from gateway.mapping.fields.python.compile import compile_binding

__all__ = [
    "BindingSource",
    "Coverage",
    "MappingError",
    "Proof",
    "check",
    "compile_binding",
    "has_map",
    "prove",
]
