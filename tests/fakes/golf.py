"""The generic tee sheet of our own: RFC 6749, RFC 9457, and idempotency keys."""

from tests.fakes.wire import Answer, Asked, Fake


def error(status: int, code: str, title: str) -> Answer:
    body = {"type": "about:blank", "title": title, "status": status, "detail": title, "code": code}
    return Answer(status, body)


TEE_TIME = {
    "teeTimeId": "tt-course-001-20261201-0830",
    "courseId": "course-1",
    "startsAt": "2026-12-01T08:30:00-05:00",
    "holes": 18,
    "spotsTotal": 4,
    "spotsAvailable": 4,
    "minPlayers": 1,
    "maxPlayers": 4,
    "price": {"amount": "65.00", "currency": "USD", "per": "player"},
    "cartIncluded": None,
}
RESERVATION = {
    "reservationId": "r-1",
    "confirmationCode": "ABC123",
    "status": "confirmed",
    "teeTimeId": TEE_TIME["teeTimeId"],
    "courseId": "course-1",
    "startsAt": TEE_TIME["startsAt"],
    "players": 4,
    "total": {"amount": "260.00", "currency": "USD"},
    "cancellableUntil": None,
    "createdAt": "2026-11-20T10:00:00Z",
    "reference": None,
}


class GolfFake(Fake):
    """One course."""

    kind = "application/json"

    def answer(self, asked: Asked) -> Answer:
        if asked.path == "/oauth2/token":
            self.require(asked.form["grant_type"] == "client_credentials", "grant_type")
            return Answer(200, {"access_token": "g-1", "token_type": "bearer"})
        self.require(asked.headers.get("authorization") == "Bearer g-1", "the access token")
        match asked.method, asked.path.split("/")[2:]:
            case "GET", ["courses", "course-1", "tee-times"]:
                day = asked.parameters["date"]
                shown = {**TEE_TIME, "startsAt": f"{day}T08:30:00-05:00"}
                return Answer(200, {"data": [shown], "nextCursor": None})
            case "GET", ["tee-times", _]:
                return Answer(200, TEE_TIME)
            case "POST", ["reservations"]:
                self.require(asked.headers.get("idempotency-key"), "Idempotency-Key")
                self.require({"teeTimeId", "userId", "players"} <= asked.json.keys(), "the body")
                return Answer(201, RESERVATION)
            case "GET", ["reservations"]:
                return Answer(200, {"data": [RESERVATION], "nextCursor": None})
        return Answer(404, {"detail": "Not Found"})
