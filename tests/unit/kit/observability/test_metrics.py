"""Metrics directories are cleaned up, and repeated log lines become one line with a count."""

import logging
import os
import tempfile
import threading
from pathlib import Path

import pytest
from prometheus_client.registry import REGISTRY

from app.commands.server_metrics import MetricsDirectory
from app.kit.observability import metrics
from app.kit.observability.throttled_log import ThrottledLog
from app.kit.serving.http1.error_responses import Refusals, ServerRefusalReason

log = logging.getLogger("gatehouse.tests")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_folder_is_removed_at_the_end(temporary: Path) -> None:
    folder = MetricsDirectory()
    (folder.path / "counter_1.db").write_bytes(b"x")
    folder.remove()
    assert list(temporary.iterdir()) == []


def test_folder_of_a_killed_server_is_removed_at_the_next_start() -> None:
    process = os.fork()
    if process == 0:
        MetricsDirectory()
        os._exit(0)  # as kill -9 does: nothing is cleaned
    os.waitpid(process, 0)
    abandoned = set(Path(tempfile.gettempdir()).iterdir())
    assert len(abandoned) == 1
    folder = MetricsDirectory()
    assert set(Path(tempfile.gettempdir()).iterdir()) == {folder.path}
    folder.remove()


def test_folder_in_use_stays_while_one_process_of_it_lives() -> None:
    read_end, write_end = os.pipe()
    used = MetricsDirectory()
    worker = os.fork()
    if worker == 0:
        os.close(write_end)
        os.read(read_end, 1)
        os._exit(0)
    os.close(used._lock)  # the parent was killed, its worker lives
    MetricsDirectory().remove()
    assert used.path.exists()
    os.close(write_end)
    os.waitpid(worker, 0)
    MetricsDirectory().remove()
    assert not used.path.exists()


def test_foreign_files_in_the_folder_stay(temporary: Path) -> None:
    other = temporary / "elsewhere"
    other.mkdir()
    (other / "lock").write_text("")
    (temporary / "gatehouse-metrics-link").symlink_to(other)
    (temporary / "gatehouse-metrics-file").write_text("")
    (temporary / "gatehouse-metrics-unlocked").mkdir()
    MetricsDirectory().remove()
    assert len(list(temporary.iterdir())) == 4
    assert (other / "lock").exists()


def test_live_metrics_of_an_ended_process_are_removed(tmp_path: Path) -> None:
    for name in ("gauge_livesum_77.db", "gauge_liveall_77.db", "counter_77.db", "gauge_livesum_78.db"):
        (tmp_path / name).write_bytes(b"")
    metrics.forget(77, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"counter_77.db", "gauge_livesum_78.db"}


def _own(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return the records of this file; what another test counted is written up to a second later."""
    return [record for record in caplog.records if record.name == log.name]


def test_flood_of_lines_becomes_one_and_a_count(caplog: pytest.LogCaptureFixture) -> None:
    throttled = ThrottledLog(log)
    with caplog.at_level(logging.WARNING, logger="gatehouse.tests"):
        for number in range(100):
            throttled.write("full", "serving.refused", number=number)
            throttled.write(f"other {number % 2}", "serving.refused", number=number)
        assert [record.__dict__["number"] for record in _own(caplog)] == [0, 0, 1]
        for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
            timer.join(10)
    counted = {record.__dict__["kind"]: record.__dict__["more"] for record in _own(caplog)[3:]}
    assert counted == {"full": 99, "other 0": 49, "other 1": 49}


def test_refusals_are_counted_by_reason_and_status(caplog: pytest.LogCaptureFixture) -> None:
    refusals = Refusals(retry_after_seconds=2, on_refusal=metrics.count_refusals())
    with caplog.at_level(logging.WARNING, logger="gatehouse.serving"):
        for _ in range(3):
            refusals.answer(431, ServerRefusalReason.LARGE_HEAD)
        refusals.note(ServerRefusalReason.HASHES, 429)
    assert REGISTRY.get_sample_value("gatehouse_refused_total", {"reason": "large_head", "status": "431"}) == 3
    assert REGISTRY.get_sample_value("gatehouse_refused_total", {"reason": "hashes", "status": "429"}) == 1
    written = [record.__dict__["reason"] for record in caplog.records if "reason" in record.__dict__]
    assert written == ["large_head", "hashes"]
