# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 50d858e0985ecc7f60418aaf0cc5ab58; generator 1

"""Bindings of the example tools."""
