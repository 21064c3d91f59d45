"""What programs ask of smart login and one-touch login for a name, as scripts of requests."""

import secrets
from collections.abc import Callable, Iterator

from werkzeug.test import TestResponse

from tests.support.accounts.account_states import Subject
from tests.support.visitors.captchas import worked

AUTH = "/identity/v2/auth"
Script = Callable[[Subject], Iterator[TestResponse]]


def asks_a_mailbox(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(6):
            stored = secrets.token_hex(16)
            yield who.ask("GET", f"{AUTH}/login/smartlogin", clientguid=stored, **{name: who.names[name]})
            yield who.ask("GET", f"{AUTH}/login/smartlogin/ping", clientguid=stored)
        yield who.ask("GET", f"{AUTH}/login/smartlogin", clientguid=stored, **{name: who.names[name]})

    return script


def approves(path: str, name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        stored = secrets.token_hex(16)
        yield who.ask("GET", f"{AUTH}/login/smartlogin", clientguid=stored, **{name: who.names[name]})
        for _ in range(6):
            yield who.ask("GET", f"{AUTH}/email/{path}", verificationtoken="000000", **{name: who.names[name]})

    return script


def touches(path: str, name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(6):
            body = {name: who.names[name], "clientguid": secrets.token_hex(16)}
            refused = who.ask("POST", f"{AUTH}/onetouchlogin/{path}", body)
            if "Captcha" not in refused.text:
                yield refused
                continue
            requested = refused.get_json()["Data"]["Captcha"]
            shown = {
                "captcha_challenge": requested["Token"],
                "captcha_work": worked(requested["WorkSeed"], requested["WorkBits"]),
            }
            yield who.ask("POST", f"{AUTH}/onetouchlogin/{path}", {**body, **shown})

    return script
