"""Parses, checks, proves and compiles the field maps of `x-binding`."""

from gateway.mapping.fields.check import check
from gateway.mapping.fields.compile import compile_binding
from gateway.mapping.fields.coverage import Coverage
from gateway.mapping.fields.nodes import BindingSource, MappingError
from gateway.mapping.fields.parse import has_map
from gateway.mapping.fields.prove import Proof, prove

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
