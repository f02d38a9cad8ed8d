"""The schemas of one imported document, compiled when they are first used."""

import json
from typing import Any

from gateway.backends.mock.samples.answers import Samples
from gateway.backends.mock.samples.flattening import Flattener
from gateway.backends.mock.samples.shapes import SchemaShapes
from gateway.contract.imported import ImportedConnector


class Schemas:
    """Samples of the schemas of one document."""

    def __init__(self, connector: ImportedConnector) -> None:
        self._definitions = connector.definitions
        self._flattener = Flattener(connector.definitions)
        self.shapes = SchemaShapes(self._flattener)
        self._samples: dict[str, Samples] = {}

    def samples(self, schema: Any) -> Samples:
        """The samples of `schema`, which may refer to the document's definitions."""
        key = json.dumps(schema, sort_keys=True)
        if key not in self._samples:
            self._samples[key] = Samples(schema, self._definitions, self._flattener)
        return self._samples[key]
