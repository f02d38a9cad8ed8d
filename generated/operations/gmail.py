# Generated from schemas/tools/gmail/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 917f83b8b39bfe9180f4da1147fa0da6; generator 1

"""The operations of gmail."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Operation
from generated.bindings.gmail import (
    create_draft,
    get_email,
    get_thread_history,
    send_email,
    send_template_email,
)

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="gmail.create_draft",
        connector="gmail",
        title="Create a draft",
        description=(
            "Create a draft of an email in this gateway's mailbox. A person can review and send it."
        ),
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="mail_refused",
                status=422,
                title="Gmail rejected the mail, most likely because of a recipient.",
            ),
        ),
        binding=create_draft.BINDING,
        sensitive=(
            "/to",
            "/subject",
            "/body",
            "/cc/*",
            "/bcc/*",
            "/attachments/*/filename",
            "/attachments/*/content",
            "/reply_to",
        ),
        route="/v1/gmail/create_draft",
    ),
    Operation(
        id="gmail.get_email",
        connector="gmail",
        title="Get an email",
        description=(
            "Get an email of the mailbox by its id, with its text and the names of its attachments."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="email_not_found", status=404, title="There is no such mail."),
        ),
        binding=get_email.BINDING,
        attempts=Attempts(
            max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=12.0, on=(429, 500, 502, 503, 504)
        ),
        selects_fields=True,
        route="/v1/gmail/get_email",
    ),
    Operation(
        id="gmail.get_thread_history",
        connector="gmail",
        title="Get the history of a thread",
        description="Get the mails of a thread, oldest first.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="thread_not_found", status=404, title="There is no such thread."),
        ),
        binding=get_thread_history.BINDING,
        attempts=Attempts(
            max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=12.0, on=(429, 500, 502, 503, 504)
        ),
        selects_fields=True,
        route="/v1/gmail/get_thread_history",
    ),
    Operation(
        id="gmail.send_email",
        connector="gmail",
        title="Send an email",
        description=(
            "Send an email from this gateway's account, optionally with copies and attachments."
        ),
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="mail_refused",
                status=422,
                title="Gmail rejected the mail, most likely because of a recipient.",
            ),
        ),
        binding=send_email.BINDING,
        sensitive=(
            "/to",
            "/subject",
            "/body",
            "/cc/*",
            "/bcc/*",
            "/attachments/*/filename",
            "/attachments/*/content",
            "/reply_to",
        ),
        route="/v1/gmail/send_email",
    ),
    Operation(
        id="gmail.send_template_email",
        connector="gmail",
        title="Send an email from a template",
        description="Send an email made from a template and its variables, in HTML and plain text.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="mail_refused",
                status=422,
                title="Gmail rejected the mail, most likely because of a recipient.",
            ),
        ),
        binding=send_template_email.BINDING,
        sensitive=(
            "/to",
            "/template_data",
            "/attachments/*/filename",
            "/attachments/*/content",
        ),
        route="/v1/gmail/send_template_email",
    ),
)
