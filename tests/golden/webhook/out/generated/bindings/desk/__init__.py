# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 49be417ad74080a0031b636b44cfc26f; generator 1

"""Bindings of the desk tools."""
