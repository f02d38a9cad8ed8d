# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c5345e744963b6a1c499ddedfa9fb6b9; generator 1

"""The webhook of avinode."""

from typing import Final

from gateway.contract.webhook import MessagePart, Profile, WebhookSetting, WebhookSource
from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from generated.webhooks.avinode import (
    booking_cancelled,
    booking_confirmed,
    booking_updated,
    emptylegs,
    leads,
    message_received,
    quote_accepted,
    quote_expired,
    quote_received,
    quote_rejected,
    quote_updated,
    rfq_cancelled,
    rfq_received,
    rfq_updated,
    rfqs,
    trip_cancelled,
    trip_created,
    trip_updated,
    tripmsgs,
)

SOURCE: Final = WebhookSource(
    provider="avinode",
    title="Receive messages from Avinode",
    profiles=(
        Profile(
            name="signed",
            authentication=HmacSignature(
                header="X-Avinode-Signature",
                prefix="sha256=",
                encoding="hex",
                timestamp_header="X-Avinode-Timestamp",
                tolerance_seconds=300,
                algorithm="sha256",
            ),
            message_id=MessagePart(pointer="/event_id"),
            event_type=MessagePart(pointer="/event_type"),
        ),
        Profile(
            name="pointer",
            authentication=BasicCredentials(),
            message_id=None,
            event_type=MessagePart(pointer="/type"),
        ),
    ),
    events=(
        rfq_received.EVENT,
        rfq_updated.EVENT,
        rfq_cancelled.EVENT,
        quote_received.EVENT,
        quote_updated.EVENT,
        quote_accepted.EVENT,
        quote_rejected.EVENT,
        quote_expired.EVENT,
        message_received.EVENT,
        booking_confirmed.EVENT,
        booking_cancelled.EVENT,
        booking_updated.EVENT,
        trip_created.EVENT,
        trip_updated.EVENT,
        trip_cancelled.EVENT,
        rfqs.EVENT,
        tripmsgs.EVENT,
        emptylegs.EVENT,
        leads.EVENT,
    ),
    max_body_bytes=1048576,
    stored_headers=("user-agent",),
    settings=(
        WebhookSetting(
            name="notification_email",
            description=(
                "Address that gets a mail when a request for proposal is received, a quote is "
                "accepted or a booking is confirmed. If empty, no mail is sent."
            ),
            pattern="^[A-Za-z0-9!#$%&'*+/=^_`{|}~-](?:[.]?[A-Za-z0-9!#$%&'*+/=^_`{|}~-]){0,31}@[A-Za-z0-9](?:-?[A-Za-z0-9]){0,20}(?:[.][A-Za-z0-9](?:-?[A-Za-z0-9]){0,20}){0,3}$",
        ),
        WebhookSetting(
            name="notification_name",
            description="Name of the reader in those mails.",
            default="Charter desk",
            pattern="^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{1,100}$",
        ),
        WebhookSetting(
            name="contact_phone",
            description="Telephone number in those mails. The default is a number that nobody has.",
            default="+1 555 0100",
            pattern="^[+]?[0-9 ()./-]{5,29}$",
        ),
        WebhookSetting(
            name="link_domain",
            description=(
                "Domain, including its subdomains, to which links in messages may lead. Any "
                "other link is dropped."
            ),
            default="avinode.com",
            pattern="^[a-z0-9-]{1,63}(?:[.][a-z0-9-]{1,63}){1,7}$",
        ),
    ),
    contract="c5345e744963b6a1c499ddedfa9fb6b994b83eafc14eeffa52549e392b90cb10",
)
