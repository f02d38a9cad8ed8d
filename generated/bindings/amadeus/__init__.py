# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1aaf3025033c8e43fa0ae68b1736c07a; generator 1

"""Bindings of the amadeus tools."""
