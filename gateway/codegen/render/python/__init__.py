"""Renderers of Python modules: models, bindings, tables and migrations."""
