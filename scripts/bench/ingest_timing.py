"""Test with Welch's t whether the time of a refusal depends on the forged signature.

Two classes of wrong signatures differ from the right one in the first or in the last character.
They are verified in random order. |t| below 4.5 means that the times of the two classes cannot be
distinguished (the usual bound of leakage assessment). The slowest twentieth is omitted, because its
noise would hide a leak.

    scripts/bench/ingest_timing.py [--samples 10000] [--json]
"""

import argparse
import gc
import random
import sys
import time
from collections.abc import Sequence
from statistics import fmean, variance
from typing import Any, Final

import msgspec
from machine import description

from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import Fields, Received
from gateway.signatures.scheme import SignatureScheme
from gateway.signatures.standard import StandardSignature

BOUND: Final = 4.5
BODY: Final = b'{"event_id": "e-1"}' * 20
SCHEMES: Final[dict[str, tuple[SignatureScheme, str, int]]] = {
    "standard": (StandardSignature(), "webhook-signature", len("v1,")),
    "hmac": (HmacSignature(header="x-signature", prefix="sha256="), "x-signature", len("sha256=")),
    "basic": (BasicCredentials(), "authorization", len("Basic ")),
}
"""By name: the scheme, the forged header, and the start of its secret part."""


def main() -> int:
    """Exit 0 if no scheme leaks, 1 if one does."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=10_000, help="of each class")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    found = {name: measure(*scheme, options.samples) for name, scheme in SCHEMES.items()}
    report = description() | {"samples": options.samples, "bound": BOUND, "t": found}
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        print(*(f"{key}: {report[key]}" for key in ("command", "date", "machine")), sep="\n")
        print(*(f"{name}: t = {t:+.2f} (bound {BOUND})" for name, t in found.items()), sep="\n")
    return 0 if all(abs(t) < BOUND for t in found.values()) else 1


def measure(scheme: SignatureScheme, header: str, begin: int, samples: int) -> float:
    """Welch's t of the two classes."""
    key, now = scheme.key_of(scheme.new_secret()), time.time()
    verify = scheme.verifier([key])
    right = scheme.signed_fields([key], "msg-1", int(now), BODY)
    # A base64 text ends with padding; its last secret character is before that.
    last = len(right[header].rstrip("=")) - 1
    times: tuple[list[int], list[int]] = ([], [])
    order = [number % 2 for number in range(2 * samples)]
    random.shuffle(order)
    gc.disable()
    for kind in order:
        # Created again, so that no class always has the better memory address.
        forged = Received(fields=_forged(right, header, (begin, last)[kind]), body=BODY)
        began = time.perf_counter_ns()
        is_authentic = verify(forged, now)
        times[kind].append(time.perf_counter_ns() - began)
        if is_authentic:
            raise AssertionError("a forged signature was taken for authentic")
    gc.enable()
    slow = sorted((*times[0], *times[1]))[len(order) * 19 // 20]
    return _welch(*([each for each in kind if each < slow] for kind in times))


def _forged(right: dict[str, str], header: str, place: int) -> Fields:
    text = right[header]
    # A digit, because the case of hexadecimal letters is ignored.
    other = "0" if text[place] != "0" else "1"
    changed: dict[str, Any] = right | {header: text[:place] + other + text[place + 1 :]}
    return [(name.encode(), value.encode()) for name, value in changed.items()]


def _welch(one: Sequence[int], other: Sequence[int]) -> float:
    error = variance(one) / len(one) + variance(other) / len(other)
    return (fmean(one) - fmean(other)) / float(error**0.5)


if __name__ == "__main__":
    sys.exit(main())
