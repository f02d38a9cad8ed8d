"""The typed view of arguments is never stricter than the gate, for every tool there is."""

import importlib

from hypothesis import given
from hypothesis import strategies as st

from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.values import jsontext
from gateway.contracts.names import camel, identifier
from tests.contract.generation import valid_arguments


def test_valid_arguments_load_and_dump_to_an_equal_value(operation_id: str) -> None:
    entry = open_catalogue("generated", HANDLER_PACKAGES).find(operation_id)
    connector, tool = operation_id.split(".")
    module = importlib.import_module(f"generated.models.{connector}.{identifier(tool)}")
    model = getattr(module, f"{camel(tool)}Input")

    @given(st.data())
    def check(data: st.DataObject) -> None:
        arguments = jsontext.decode(data.draw(valid_arguments(entry)))

        loaded = model.model_validate(arguments)

        assert loaded.model_dump(mode="json", by_alias=True, exclude_unset=True) == arguments

    check()
