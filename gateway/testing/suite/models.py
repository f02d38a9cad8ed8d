"""The typed view of arguments is never stricter than the schema, for every tool."""

import importlib

from hypothesis import given

from gateway.cli.project import open_project
from gateway.contract.values import jsontext
from gateway.contracts.names import camel, identifier
from gateway.testing.generation import valid_arguments
from gateway.testing.under_test import project_under_test

__all__ = ["test_valid_arguments_load_and_dump_to_an_equal_value"]


def test_valid_arguments_load_and_dump_to_an_equal_value(gateway_written_operation: str) -> None:
    project = project_under_test()
    entry = open_project(project).find(gateway_written_operation)
    connector, tool = gateway_written_operation.split(".")
    module = importlib.import_module(f"{project.package}.models.{connector}.{identifier(tool)}")
    model = getattr(module, f"{camel(tool)}Input")

    @given(valid_arguments(entry))
    def check(text: bytes) -> None:
        arguments = jsontext.decode(text)

        loaded = model.model_validate(arguments)

        assert loaded.model_dump(mode="json", by_alias=True, exclude_unset=True) == arguments

    check()
