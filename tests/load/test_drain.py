"""SIGTERM: the listener closes, received requests are answered, the process exits with status 0."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.load.clients import Served, eventually, get, post, read_all, read_answer, status

ROOT = Path(__file__).parents[2]
ARRIVAL_SECONDS = 0.5  # enough for a busy machine to read the sent bytes


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", [1, 2])
def test_running_and_queued_requests_are_answered(
    serving: Callable[..., Served], workers: int, number: signal.Signals
) -> None:
    served = serving(workers=workers, threads=1)
    clients = [served.connect(get("/slow/1.2")) for _ in range(3)]
    time.sleep(ARRIVAL_SECONDS)
    served.signal(number)
    for client in clients:
        answer = read_all(client)
        assert answer.endswith(b"slow but complete")
        assert b"connection: close" in answer
    assert served.wait() == 0


def test_partial_request_may_still_complete(served: Served) -> None:
    request = post("/length", b"hello")
    with served.connect(request[:20]) as in_head, served.connect(request[:-2]) as in_body:
        time.sleep(ARRIVAL_SECONDS)
        served.signal(signal.SIGTERM)
        time.sleep(0.3)
        in_head.sendall(request[20:])
        in_body.sendall(request[-2:])
        assert read_all(in_head).endswith(b"5")
        assert read_all(in_body).endswith(b"5")
    assert served.wait() == 0


def test_stalled_partial_request_gets_503(serving: Callable[..., Served]) -> None:
    served = serving(limits={"drain_arrival_seconds": 0.2})
    request = post("/length", b"hello")
    with served.connect(request[:20]) as in_head, served.connect(request[:-2]) as in_body:
        time.sleep(ARRIVAL_SECONDS)
        served.signal(signal.SIGTERM)
        assert status(read_answer(in_body)) == 503
        assert status(read_all(in_head)) == 503
    assert served.wait() == 0


def test_open_connection_is_answered_during_shutdown(served: Served) -> None:
    with served.connect(get("/")) as client:
        read_answer(client)
        served.signal(signal.SIGTERM)
        time.sleep(0.2)
        client.sendall(get("/"))
        assert b"connection: close" in read_all(client)
    assert served.wait() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_no_response_breaks_under_load(serving: Callable[..., Served], workers: int) -> None:
    """Clients that send without pause get complete responses, then refused connections: never a reset after a request."""
    served = serving(workers=workers, threads=2)
    broken: list[str] = []
    answered: list[int] = []

    def send_until_refused() -> None:
        while True:
            try:
                client = served.connect()
            except OSError:
                return
            try:
                with client:
                    client.sendall(get("/", "Connection: close"))
                    answer = read_all(client)
            except OSError as error:
                broken.append(repr(error))
                continue
            answered.append(status(answer)) if answer.endswith(b"ordinary") else broken.append(repr(answer))

    clients = [threading.Thread(target=send_until_refused) for _ in range(8)]
    for client in clients:
        client.start()
    time.sleep(0.5)
    served.signal(signal.SIGTERM)
    for client in clients:
        client.join()
    assert served.wait() == 0
    assert len(answered) > len(clients)
    assert broken == []


def test_endless_request_does_not_block_shutdown(serving: Callable[..., Served]) -> None:
    served = serving(limits={"drain_seconds": 1.0, "drain_arrival_seconds": 0.5})
    with served.connect(get("/slow/600.0")):
        time.sleep(ARRIVAL_SECONDS)
        served.signal(signal.SIGTERM)
        assert served.wait() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_background_jobs_start_once_and_stop(serving: Callable[..., Served], workers: int) -> None:
    served = serving(workers=workers)
    served.output.append(served.stdout.readline().strip())
    served.signal(signal.SIGTERM)
    assert served.wait() == 0
    assert served.output == ["job started", "job stopped"]


def test_background_jobs_wait_for_what_is_loaded_late(serving: Callable[..., Served]) -> None:
    served = serving(defers_imports=True)
    served.output += [served.stdout.readline().strip() for _ in range(2)]
    served.signal(signal.SIGTERM)
    assert served.wait() == 0
    assert served.output == ["loaded", "job started", "job stopped"]


def test_crashed_background_job_is_restarted(serving: Callable[..., Served]) -> None:
    served = serving(job_crashes=True)
    while served.output.count("job started") < 2:
        served.output.append(served.stdout.readline().strip())
    served.signal(signal.SIGTERM)
    assert served.wait() == 0
    assert served.output[-1] == "job stopped"


def test_server_outlives_its_parent_process(tmp_path: Path) -> None:
    """This happens after `nohup gatehouse serve &` and a logout."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "tests.load", "{}"]
    program = f"""if True:
        import pathlib, subprocess, time
        out = pathlib.Path({str(out)!r})
        print(subprocess.Popen({command!r}, stdout=out.open("w"), stderr=subprocess.DEVNULL).pid)
        while "ready" not in out.read_text():
            time.sleep(0.02)"""
    process = int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT).stdout)
    try:
        assert eventually(lambda: "ready" in out.read_text())
        host, port = out.read_text().partition("ready ")[2].split()[0].rsplit(":", 1)
        time.sleep(1.5)  # longer than it takes a worker to notice that its supervisor is gone
        with socket.create_connection((host, int(port))) as client:
            client.sendall(get("/", "Connection: close"))
            assert read_all(client).endswith(b"ordinary")
    finally:
        os.kill(process, signal.SIGTERM)


def test_workers_end_when_supervisor_is_killed(serving: Callable[..., Served]) -> None:
    served = serving(workers=2)
    workers = served.children()
    served.signal(signal.SIGKILL)
    assert eventually(lambda: not any(is_running(worker) for worker in workers))


def test_unix_socket_is_served(serving: Callable[..., Served], tmp_path: Path) -> None:
    served = serving(bind=f"unix:{tmp_path / 'gatehouse.sock'}")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(served.host)
        client.sendall(get("/environ/", "Connection: close"))
        assert b'"REMOTE_ADDR":""' in read_all(client)


def is_running(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and ") Z" not in stat.read_text()


def test_crashed_worker_is_replaced(serving: Callable[..., Served]) -> None:
    served = serving(workers=2)
    for worker in served.children():
        os.kill(worker, signal.SIGKILL)
    assert served.get("/").endswith(b"ordinary")
    served.signal(signal.SIGTERM)
    assert served.wait() == 0


def ready(served: Served) -> int:
    return status(served.get("/health/ready"))


@pytest.mark.parametrize("workers", [1, 2])
def test_lame_duck_fails_readiness_and_serves_the_rest(serving: Callable[..., Served], workers: int) -> None:
    served = serving(workers=workers, limits={"lame_duck_seconds": 3600})
    assert ready(served) == 200
    served.signal(signal.SIGTERM)
    assert eventually(lambda: {ready(served) for _ in range(8)} == {503})  # both workers have noticed
    assert served.get("/").endswith(b"ordinary")
    assert served.process.is_alive()
    served.signal(signal.SIGTERM)  # a second signal closes the listener
    assert served.wait() == 0


def test_listener_closes_after_lame_duck_time(serving: Callable[..., Served]) -> None:
    served = serving(workers=2, limits={"lame_duck_seconds": 0.3})
    served.signal(signal.SIGTERM)
    assert served.wait() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_skips_lame_duck(serving: Callable[..., Served], workers: int) -> None:
    served = serving(workers=workers, limits={"lame_duck_seconds": 3600})
    os.killpg(served.pid, signal.SIGINT)  # a terminal signals the supervisor and its workers
    assert served.wait() == 0


def test_unfinished_requests_get_503_at_drain_deadline(serving: Callable[..., Served]) -> None:
    """Running requests, one waiting for a thread and one in the hashing queue get 503 with Retry-After, none gets 500."""
    served = serving(threads=1, hash_limits={"running": 1, "threads": 1}, limits={"drain_seconds": 0.5})
    clients = [served.connect(get("/slow/30")) for _ in range(2)]
    clients += [served.connect(post("/queued/30", b"")) for _ in range(2)]
    time.sleep(ARRIVAL_SECONDS)
    served.signal(signal.SIGTERM)
    answers = [read_all(client) for client in clients]
    assert [status(answer) for answer in answers] == [503] * 4
    assert all(b"retry-after" in answer.lower() for answer in answers)
    assert served.wait() == 0
    assert "refused draining 503" in served.output
