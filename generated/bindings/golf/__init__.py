# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 625fe74cad4600b5e8b76a9283333eb7; generator 1

"""Bindings of the golf tools."""
