# Generated from schemas/tools/sheets/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a38553259115084cf38c8a989f789f1b; generator 1

"""The operations of sheets."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Operation
from generated.bindings.sheets import (
    add_flight_history,
    get_client,
    get_client_details,
    list_clients,
    read_sheet,
    search_client,
    search_clients,
    update_client,
)

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="sheets.add_flight_history",
        connector="sheets",
        title="Add a flight to a client's history",
        description=(
            "Add a completed flight to a client's history and update the client's flight figures."
        ),
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="client_not_found", status=404, title="There is no such client."),
            DeclaredError(
                reason="client_ambiguous",
                status=409,
                title="Several rows of the client sheet have this client id.",
            ),
            DeclaredError(
                reason="history_sheet_missing",
                status=409,
                title="The spreadsheet has no sheet named Flight History; nothing was recorded.",
            ),
            DeclaredError(
                reason="client_not_counted",
                status=502,
                title=(
                    "The flight was recorded, but the client's figures were not updated. Do not "
                    "record it again; set total_flights and last_flight_date with update_client."
                ),
            ),
            DeclaredError(
                reason="client_sheet_unusable",
                status=409,
                title=(
                    "The client sheet is missing, or its first row does not have the expected "
                    "column names in order."
                ),
            ),
        ),
        binding=add_flight_history.BINDING,
        route="/v1/sheets/add_flight_history",
    ),
    Operation(
        id="sheets.get_client",
        connector="sheets",
        title="Get a client",
        description="Get a client's profile by email address or client id.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="client_not_found", status=404, title="There is no such client."),
            DeclaredError(
                reason="client_ambiguous",
                status=409,
                title="Several rows of the client sheet have this address or client id.",
            ),
            DeclaredError(
                reason="client_sheet_unusable",
                status=409,
                title=(
                    "The client sheet is missing, or its first row does not have the expected "
                    "column names in order."
                ),
            ),
        ),
        binding=get_client.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        sensitive=("/identifier",),
        route="/v1/sheets/get_client",
    ),
    Operation(
        id="sheets.get_client_details",
        connector="sheets",
        title="Get all details of a client",
        description="Get all data about a client in the client sheet, by client id.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="client_not_found", status=404, title="There is no such client."),
            DeclaredError(
                reason="client_ambiguous",
                status=409,
                title="Several rows of the client sheet have this client id.",
            ),
            DeclaredError(
                reason="client_sheet_unusable",
                status=409,
                title=(
                    "The client sheet is missing, or its first row does not have the expected "
                    "column names in order."
                ),
            ),
        ),
        binding=get_client_details.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        route="/v1/sheets/get_client_details",
    ),
    Operation(
        id="sheets.list_clients",
        connector="sheets",
        title="List clients",
        description="List the clients of the client sheet, in pages.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="client_sheet_unusable",
                status=409,
                title=(
                    "The client sheet is missing, or its first row does not have the expected "
                    "column names in order."
                ),
            ),
        ),
        binding=list_clients.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        route="/v1/sheets/list_clients",
    ),
    Operation(
        id="sheets.read_sheet",
        connector="sheets",
        title="Read cells of a sheet",
        description="Read the cells of a range of a spreadsheet.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="spreadsheet_not_readable",
                status=403,
                title=(
                    "Agents may not read this spreadsheet; the operator can allow it with "
                    "GATEWAY_SHEETS_READABLE_SHEETS."
                ),
            ),
            DeclaredError(
                reason="range_not_found",
                status=404,
                title="The spreadsheet, its sheet or the range does not exist.",
            ),
        ),
        binding=read_sheet.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        route="/v1/sheets/read_sheet",
    ),
    Operation(
        id="sheets.search_client",
        connector="sheets",
        title="Search a client by name",
        description="Search clients by name or email address and return the requested fields.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="client_sheet_unusable",
                status=409,
                title=(
                    "The client sheet is missing, or its first row does not have the expected "
                    "column names in order."
                ),
            ),
        ),
        binding=search_client.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        sensitive=("/query",),
        route="/v1/sheets/search_client",
    ),
    Operation(
        id="sheets.search_clients",
        connector="sheets",
        title="Search clients by criteria",
        description="Search clients by words, status and number of flights.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="client_sheet_unusable",
                status=409,
                title=(
                    "The client sheet is missing, or its first row does not have the expected "
                    "column names in order."
                ),
            ),
        ),
        binding=search_clients.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        sensitive=("/query",),
        route="/v1/sheets/search_clients",
    ),
    Operation(
        id="sheets.update_client",
        connector="sheets",
        title="Update a client",
        description="Update the preferences or other data of a client in the client sheet.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="client_not_found", status=404, title="There is no such client."),
            DeclaredError(
                reason="client_ambiguous",
                status=409,
                title="Several rows of the client sheet have this client id.",
            ),
            DeclaredError(
                reason="client_moved",
                status=409,
                title=(
                    "The rows of the sheet were moved during the call, and the change was "
                    "written to another client."
                ),
            ),
            DeclaredError(
                reason="client_sheet_unusable",
                status=409,
                title=(
                    "The client sheet is missing, or its first row does not have the expected "
                    "column names in order."
                ),
            ),
        ),
        binding=update_client.BINDING,
        sensitive=("/updates",),
        route="/v1/sheets/update_client",
    ),
)
