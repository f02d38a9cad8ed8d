"""Refusals of a vendor's document, or of one part of it."""

from gateway.contracts.finding import ContractRefused, Finding


class DocumentRefused(ContractRefused):
    """The document cannot be read at all. `findings` name the places and the fixes."""


class PartRefused(ContractRefused):
    """One part of the document cannot be served. Operations that use it are refused, no others."""

    def __init__(self, finding: Finding) -> None:
        super().__init__([finding])
        self.finding = finding
