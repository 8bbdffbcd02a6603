from cgmh.serving.metrics import Metrics
from cgmh.serving.protocols import Stats


def test_what_was_counted() -> None:
    metrics = Metrics()
    for seconds in (0.004, 0.3, 0.3, 99.0):
        metrics.add("/v1/correct", 200, seconds)
    metrics.add("/v1/correct", 429, 0.001)
    stats = Stats(3, 2, 64, 1000, 2, {"replace": 10}, {"replace": 4}, ["en"], 8, 5)
    lines = metrics.text(stats, 1).splitlines()
    assert 'cgmh_requests_total{path="/v1/correct",status="200"} 4' in lines
    assert 'cgmh_requests_total{path="/v1/correct",status="429"} 1' in lines
    assert 'cgmh_request_seconds_bucket{path="/v1/correct",le="0.01"} 2' in lines
    assert 'cgmh_request_seconds_bucket{path="/v1/correct",le="0.5"} 4' in lines
    assert 'cgmh_request_seconds_bucket{path="/v1/correct",le="60.0"} 4' in lines
    assert 'cgmh_request_seconds_bucket{path="/v1/correct",le="+Inf"} 5' in lines
    assert 'cgmh_request_seconds_count{path="/v1/correct"} 5' in lines
    assert 'cgmh_request_seconds_sum{path="/v1/correct"} 99.605' in lines
    assert 'cgmh_accepted_total{move="replace"} 4' in lines
    assert {"cgmh_waiting 3", "cgmh_running 2", "cgmh_streams 1", "cgmh_steps_total 1000"} <= set(lines)
    assert {"cgmh_cache_lookups_total 8", "cgmh_cache_hits_total 5"} <= set(lines)


def test_every_metric_is_described_once() -> None:
    lines = Metrics().text(Stats(), 0).splitlines()
    described = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(set(described)) == len(described)
    assert {line.split("{")[0].split()[0] for line in lines if line[0] != "#"} <= set(described)
