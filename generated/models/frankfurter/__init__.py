# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 439ec330cf2bfc286932e192ebfd83cf; generator 1

"""Models of the frankfurter tools."""
