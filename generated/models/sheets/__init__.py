# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 01c01800d6990c0c31fe6e858dbc3a9c; generator 1

"""Models of the sheets tools."""
