# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: dba36bffa5cab0f922d087a3aeb179f9; generator 1

"""Models of the words tools."""
