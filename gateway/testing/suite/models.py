"""The typed view of arguments is never stricter than the schema, for every tool."""

import importlib

from hypothesis import given

from gateway.authoring.contracts.names import camel, identifier
from gateway.contract.values import jsontext
from gateway.testing.gateways import catalogue_under_test, project_under_test
from gateway.testing.generation import budget, valid_arguments

__all__ = ["test_valid_arguments_load_and_dump_to_an_equal_value"]


def test_valid_arguments_load_and_dump_to_an_equal_value(gateway_written_operation: str) -> None:
    catalogue, package = catalogue_under_test(), project_under_test().package
    connector, tool = gateway_written_operation.split(".")
    module = importlib.import_module(f"{package}.models.{connector}.{identifier(tool)}")
    model = getattr(module, f"{camel(tool)}Input")

    @budget()
    @given(valid_arguments(catalogue, catalogue.find(gateway_written_operation)))
    def check(text: bytes) -> None:
        arguments = jsontext.decode(text)

        loaded = model.model_validate(arguments)

        assert loaded.model_dump(mode="json", by_alias=True, exclude_unset=True) == arguments

    check()
