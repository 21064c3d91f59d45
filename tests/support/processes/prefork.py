"""Runs `gatehouse` commands as processes of their own that share one import: a start takes a tenth of a second, not two.

Listens at a Unix socket. Each connection brings one JSON object in a line. For `program`, `arguments`, `environ`, `log` and `folder` it
forks and answers with the process id; for `{"pid": …}` it answers with the exit status of that process, or `null` while it runs.
Run as `python -m tests.support.processes.prefork SOCKET`, where Python finds the `app` that is to be loaded.
"""

import gc
import importlib
import json
import os
import signal
import socket
import sys
from functools import cache
from typing import Any

LOADED = (
    "app.factories", "app.commands.serving", "app.commands.database", "app.commands.tenants",
    "app.commands.configuration",
    "app.reference", "app.identity.assembly.worker", "app.identity.administration.reencryption", "app.identity.platform.store.migrate",
    "alembic.command",
    "app.kit.serving.worker_process",
    "app.identity.assembly.services", "app.identity.administration.configuration.apply_configuration", "email_validator", "regex",
    "sqlite3",
)  # fmt: skip


def run(requested: dict[str, Any]) -> None:
    """Be the command; never returns."""
    status = 1
    try:
        log = os.open(requested["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.chdir(requested["folder"])
        os.environ.clear()
        os.environ.update(requested["environ"])
        sys.argv = ["gatehouse", *requested["arguments"]]
        importlib.import_module(requested["program"]).main()
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


ENDED: dict[int, int] = {}
"""The exit status of each process that is over."""


def reap(*_: object) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        ENDED[pid] = os.waitstatus_to_exitcode(status)


def main(path: str) -> None:
    for name in LOADED:
        importlib.import_module(name)
    importlib.import_module("app.commands.serving").preload("both")
    keep_schemas()
    gc.freeze()
    signal.signal(signal.SIGCHLD, reap)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rw") as lines:
                requested = json.loads(lines.readline() or "{}")
                answer = (
                    fork(requested, listener, connection) if "program" in requested else ENDED.get(requested.get("pid"))
                )
                lines.write(f"{json.dumps(answer)}\n")


def keep_schemas() -> None:
    """Make and keep pydantic's schemas of the API reference, which take a second and depend on no address."""
    names = vars(importlib.import_module("app.kit.openapi.document"))
    names["models_json_schema"] = cache(names["models_json_schema"])
    importlib.import_module("app.contract.published.openapi").openapi_document("", "")


def fork(requested: dict[str, Any], *ours: socket.socket) -> int:
    if pid := os.fork():
        return pid
    for item in ours:
        os.close(item.detach())
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run(requested)
    raise AssertionError("a command never returns")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(sys.argv[1])
