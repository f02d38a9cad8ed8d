"""Parses, checks, proves and compiles the field maps of `x-binding`."""

from gateway.authoring.mapping.fields.check import check
from gateway.authoring.mapping.fields.compile import compile_binding
from gateway.authoring.mapping.fields.coverage import Coverage, Proof, prove, prove_requests
from gateway.authoring.mapping.fields.nodes import BindingSource, MappingError
from gateway.authoring.mapping.fields.parse import has_map

__all__ = [
    "BindingSource",
    "Coverage",
    "MappingError",
    "Proof",
    "check",
    "compile_binding",
    "has_map",
    "prove",
    "prove_requests",
]
