# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2a97516c354b68848cdbd8f54a226a0a; generator 1

"""Models of the demo tools."""
