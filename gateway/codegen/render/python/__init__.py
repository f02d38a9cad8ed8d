"""Renderers of Python: models, bindings, tables, routes, migrations."""
