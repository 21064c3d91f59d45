"""Runs `gatehouse` commands as processes of their own that share one import: a start takes a tenth of a second, not two.

Reads one JSON object a line from stdin (`program`, `arguments`, `environ`, `log`, `folder`), forks, and prints the process id, or with
`waits` the exit status. `{"pid": …}` prints the exit status of that process, or `null` while it runs. Run in the folder whose `app` is to
be loaded: `python -m tests.support.prefork` there.
"""

import gc
import importlib
import json
import os
import signal
import sys
from typing import Any

LOADED = (
    "app.applications", "app.identity.entry.areas", "app.commands.serving", "app.commands.database", "app.commands.tenants",
    "app.commands.configuration",
    "app.reference", "app.identity.entry.worker", "app.identity.administration.reencryption", "app.identity.platform.store.migrate",
    "alembic.command",
    "app.kit.serving.worker",
    "app.identity.entry.assembly", "app.identity.administration.configuration.apply", "email_validator", "regex", "sqlite3",
)  # fmt: skip


def run(asked: dict[str, Any]) -> None:
    """Be the command; never returns."""
    status = 1
    try:
        log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environ"])
        sys.argv = ["gatehouse", *asked["arguments"]]
        importlib.import_module(asked["program"]).main()
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


def main() -> None:
    for name in LOADED:
        importlib.import_module(name)
    importlib.import_module("app.commands.serving").preload("both")
    gc.freeze()
    signal.signal(signal.SIGCHLD, reap)
    print("ready", flush=True)
    answers = os.dup(1)
    for line in sys.stdin:
        asked = json.loads(line)
        if "pid" in asked:
            os.write(answers, f"{json.dumps(ENDED.get(asked['pid']))}\n".encode())
            continue
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            run(asked)
        while asked["waits"] and pid not in ENDED:
            signal.sigtimedwait([], 0.02)
        os.write(answers, f"{ENDED.get(pid, 1) if asked['waits'] else pid}\n".encode())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main()
