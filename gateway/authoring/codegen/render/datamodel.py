"""Generates Pydantic classes from JSON Schemas with datamodel-code-generator, in this process.

Only this module uses the library. Importing it takes half a second, so it is imported when the
first model is rendered.
"""

import json
import warnings
from collections.abc import Mapping
from typing import Any, Final

from datamodel_code_generator import (
    Error,
    GenerateConfig,
    InputFileType,
    LiteralType,
    generate,
)
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import PythonVersion

from gateway.errors import ContractError

# All options that affect the text are set here: the library's defaults change between releases.
_OPTIONS: Final[Mapping[str, Any]] = {
    "input_file_type": InputFileType.JsonSchema,
    "output_model_type": DataModelType.PydanticV2BaseModel,
    "target_python_version": PythonVersion.PY_311,
    "formatters": [],  # ruff formats everything at the end
    "allow_remote_refs": False,
    "custom_file_header": "# header",
    "disable_future_imports": True,
    "disable_timestamp": True,
    "enum_field_as_literal": LiteralType.All,
    "field_constraints": True,
    "skip_root_model": True,
    "strict_nullable": True,
    "use_annotated": True,
    "use_double_quotes": True,
    "use_field_description": True,
    "use_inline_field_description": True,
    "use_schema_description": True,
    "use_single_line_docstring": True,
    "use_standard_collections": True,
    "use_tuple_for_closed_arrays": True,
    "use_type_alias": True,
    "use_union_operator": True,
}


def pydantic_source(definitions: Mapping[str, Any], imports: Mapping[str, str], origin: str) -> str:
    """The text of a module with one class or alias per definition.

    `imports` maps the files of references to Python modules. `origin` is the contract's name in
    errors. Raises `ContractError` if the library fails or warns: a warning means that it left out a
    part of the schema.
    """
    config = GenerateConfig(**_OPTIONS, external_ref_mapping=dict(imports) or None)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            text = generate(json.dumps(schema), config=config)
    except (Error, Warning, ValueError, TypeError) as error:
        raise ContractError(f"schemas/{origin}: no model can be made of it: {error}") from error
    return str(text).partition("\n")[2].strip() + "\n"
