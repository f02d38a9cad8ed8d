"""Renderers of Python modules: models, bindings, tables, routes and migrations."""
