# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fe6d3468cf5c74d8ec2a95b40f2e0533; generator 1

"""Payloads of standard."""
