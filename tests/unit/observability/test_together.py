"""The metrics of several processes in one answer."""

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from gateway.observability.metrics import GatewayMetrics, ProcessFiles, Reading


def metrics(folder: Path, number: int, group: str = "77") -> GatewayMetrics:
    found = GatewayMetrics("1")
    found.together = ProcessFiles(folder, group, number)
    return found


def readings(waiting: float, jobs: float) -> list[Reading]:
    return [
        Reading(name="gateway_waiting", help="Waiting.", values=[((), waiting)]),
        Reading(name="gateway_jobs", help="Jobs.", values=[((), jobs)], is_common=True),
    ]


def samples(text: bytes, name: str) -> dict[str, float]:
    """The values of a metric that a scraper reads, by process."""
    families = list(text_string_to_metric_families(text.decode()))
    names = [each.name for each in families]
    assert len(names) == len({*names})
    return {
        each.labels.get("process", ""): each.value
        for family in families
        for each in family.samples
        if each.name == name
    }


def test_the_answer_has_the_series_of_all_and_common_ones_once(tmp_path: Path) -> None:
    one, two = metrics(tmp_path, 0), metrics(tmp_path, 1)
    metrics(tmp_path, 0, "78").share(readings(9, 9))
    for each, calls in ((one, 1), (two, 3)):
        for _ in range(calls):
            each.calls.of_operation("a.b", 'o"k}', 0.002)
    one.share(readings(1, 10))
    two.share(readings(2, 20))
    one.calls.of_operation("a.b", 'o"k}', 0.002)

    text = one.text(readings(4, 11))

    assert samples(text, "gateway_calls_total") == {"0": 2, "1": 3}
    assert samples(text, "gateway_call_duration_seconds_count") == {"0": 2, "1": 3}
    assert samples(text, "gateway_waiting") == {"0": 4, "1": 2}
    assert samples(text, "gateway_jobs") == {"": 11}
    assert samples(two.text(readings(2, 21)), "gateway_calls_total") == {"0": 1, "1": 3}


def test_a_folder_that_cannot_be_written_leaves_the_own_metrics(tmp_path: Path) -> None:
    alone = metrics(tmp_path / "missing", 0)
    alone.share(readings(1, 1))
    assert samples(alone.text(readings(5, 1)), "gateway_waiting") == {"0": 5}
