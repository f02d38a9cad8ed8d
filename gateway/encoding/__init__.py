"""The exact HTTP form of the arguments of an imported operation (OpenAPI 3.2, RFC 6570).

`encoder.Encoder` makes requests. `problems.problems` names, before the operation is served, what
no request can express.
"""
