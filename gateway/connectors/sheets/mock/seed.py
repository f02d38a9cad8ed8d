"""The initial content of a spreadsheet of the Sheets mock: clients, preferences and flights.

The rows are like those that people type: different lengths, dates as text or as dates, numbers as
text, extra spaces, and texts that look like formulas.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gateway.connectors.sheets.clients import COLUMNS
from gateway.connectors.sheets.mock.cells import Cell, day
from gateway.connectors.sheets.mock.grid import Tab

Cells = Sequence[Cell | None]

_CREATED: Final = "2024-03-11T09:15:00Z"
_CLIENTS: Final[Sequence[Sequence[Any]]] = (
    ("CL-001", "John Doe", "john.doe@example.com", "+1-555-123-4567", "Tech Corp", "midsize",
     "kosher", "wheelchair accessible", "gold", 12, "2025-09-15", "OP-001, OP-003",
     _CREATED, "2025-09-16T08:00:00Z"),
    ("CL-002", "Jane Smith", "jane.smith@example.com", "+1-555-201-8890", "Smith & Partners",
     "heavy", "", "", "platinum", 47, day("2026-10-02"), "OP-002,OP-004,OP-006", _CREATED),
    ("client-456", "John Smith", "john@example.com", "+1-555-456-7890", "Smith Holdings",
     "light", "vegetarian", "", "silver", 5, "2026-01-20", "OP-005", _CREATED),
    ("CL-003", "María José Fernández", "maria.fernandez@example.es", "+34 91 555 01 02",
     "Inversiones Ñandú", "midsize", "sin gluten", "", "Gold", "19", day("2026-06-30"), "OP-008"),
    ("CL-004", "李小龍", "li.xiaolong@example.hk", "+852 5555 0104", "龍門集團", "heavy", "素食"),
    ("CL-005", "Zoë O'Brien-Łukasiewicz", "zoe@example.ie", "+353 1 555 0105"),
    ("CL-006", "=SUM(A1:A9) Ltd", "accounts@example.com", "+1-555-0106", "=1+1", "light", "@none",
     "-", "standard", 0),
    ("CL-007", "Ahmed Al-Mansouri", "ahmed@example.ae", "+971 4 555 0107", "Al-Mansouri Group",
     "heavy", "halal", "prayer mat on board", "platinum", 88, "2026-11-01", "OP-007,OP-002"),
    ("CL-008", "Grace Hopper", "grace@example.com", "+1-555-0108", "", "", "", "", "vip", "many"),
    ("CL-009", "  Padded Name  ", " Padded@Example.com ", 15550109, "", "", "", "",
     " silver ", 3.0),
    ("CL-010", "Nils Ångström", "nils@example.se", "+46 8 555 01 10", "Ångström AB", "midsize",
     "laktosfri"),
    (),
    ("CL-011", "Olga Петрова", "olga@example.org", "", "", "light", "", "two dogs in the cabin",
     "standard", 2, "last summer"),
    ("CL-012", "Tane Mahuta", "tane@example.nz", "+64 9 555 0112", "Kauri Ltd", "midsize", "", "",
     "silver", 7, day("2025-12-24"), "OP-003,,OP-001, OP-003"),
    ("", "A note of somebody, not a client"),
    ("CL-013", "Priya Raghunathan", "priya@example.in", "+91 22 5550 113", "Raghu Textiles",
     "heavy", "jain", "", "gold", 31, "2026-08-08", "OP-006"),
    ("CL-014", "Émile Dubois", "emile.dubois@example.fr", "+33 1 55 50 01 14", "Dubois & Fils",
     "light", "", "", "standard", 1, "2026-02-14", "OP-005"),
    ("CL-015", "Kwame Mensah", "kwame@example.gh", "+233 30 255 0115", "Volta Energy", "midsize",
     "", "", "gold", 22, "2026-07-19", "OP-004"),
    ("CL-016", "Sofia Rossi", "sofia.rossi@example.it", "+39 02 5550 116", "Rossi Design", "light",
     "pescatarian", "", "silver", 9, "2026-05-05"),
    ("CL-017", "Hans Müller", "hans@example.de", "+49 89 5550 117", "Müller Maschinenbau GmbH",
     "midsize", "", "extra legroom", "gold", 28, "2026-09-09", "OP-001"),
    ("CL-018", "Aiko Tanaka", "aiko@example.jp", "+81 3 5550 0118", "田中商事", "heavy",
     "no shellfish", "", "platinum", 63, "2026-10-30", "OP-007"),
    ("CL-019", "Liam Murphy", "liam@example.ie"),
    ("CL-020", "Beatriz Souza", "beatriz@example.com.br", "+55 11 5550 0120", "Souza Café",
     "light", "", "", "standard", 4, "2026-03-03", "OP-005"),
    ("CL-021", "Test 👩‍✈️ Pilot", "pilot@example.com", "", "", "midsize"),
    ("CL-022", "Noor Jansen", "noor@example.nl", "+31 20 555 0122", "Jansen Bloemen", "light",
     "vegan", "", "silver", 6, "2026-04-27", "OP-008"),
    ("CL-023", "Chiara Bianchi", "chiara@example.ch", "+41 22 555 01 23", "Bianchi SA", "heavy",
     "", "", "platinum", 54, "2026-11-11", "OP-002"),
    ("CL-024", "Samuel Green", "samuel@example.com", "+1-555-0124", "Green Energy", "midsize",
     "nut allergy", "", "standard", 2, "2025-11-30", "OP-001"),
    ("CL-025", "Ingrid Hansen", "ingrid@example.no", "+47 22 55 01 25", "Fjord Shipping", "heavy",
     "", "", "gold", 17, "2026-06-21", "OP-004,OP-006"),
)  # fmt: skip
_PREFERENCES: Final[Sequence[Sequence[Any]]] = (
    ("client_id", "topic", "preference", "priority", "noted_on", "noted_by"),
    ("CL-001", "catering", "kosher, no onions", 1, day("2025-09-01"), "Mara"),
    ("CL-001", "seating", "forward facing", 2, day("2025-09-01"), "Mara"),
    ("CL-002", "newspapers", "Financial Times", 3, day("2026-02-11")),
    ("client-456", "catering", "vegetarian", 1, day("2026-01-05"), "Jon"),
)
_FLIGHTS: Final[Sequence[Sequence[Any]]] = (
    ("client_id", "date", "route", "aircraft", "operator", "price", "recorded_at", "call_id"),
    ("CL-001", "2025-09-15", "KTEB-KVNY", "Citation X", "OP-001", 45000,
     "2025-09-16T08:00:00Z", "seed-1"),
    ("CL-002", "2026-10-02", "EGGW-LFMN", "Challenger 350", "OP-004", 28500.5,
     "2026-10-03T07:30:00Z", "seed-2"),
)  # fmt: skip


def seeded() -> Iterator[Tab]:
    """The tabs of a new spreadsheet."""
    yield Tab("Clients", _cells((COLUMNS, *_CLIENTS)))
    yield Tab("Preferences", _cells(_PREFERENCES))
    yield Tab("Flight History", _cells(_FLIGHTS))
    yield Tab("Operators' Notes")


def _cells(rows: Sequence[Sequence[Any]]) -> Iterator[Cells]:
    for row in rows:
        yield [None if value == "" else _cell(value) for value in row]


def _cell(value: Any) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)
