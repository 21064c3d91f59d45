"""Enrol and verify each second factor on the pages, in a browser: one class per kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import pyotp
from playwright.sync_api import Page, expect
from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import code_in, other_code, sent_messages
from tests.support.browsers.shop_user import Ada, enter_code, send
from tests.support.credentials.devices import (
    AWS_KEY,
    PUSH,
    Phone,
    pairing_address,
    store_service_secrets,
    tenant_server_of,
)
from tests.support.fakes.duo import DUO, SECRET, duo
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import answered

NONE = {"totp": False, "sms": False, "email": False, "passkey": False, "push": False, "duo": False}


def world_with(make: NewWorld, *steps: type[BrowserFactor], **settings: Any) -> World:
    """Return a tenant that requires one of these factors, without backup codes by default."""
    switches = {**NONE, "backup_codes": False, **{step.kind: True for step in steps}, **settings.pop("factors", {})}
    tenant_settings = {name: value for step in steps for name, value in step.settings.items()}
    return make(**{"two_factor": "required", "second_factors": switches, **tenant_settings, **settings})


class BrowserFactor:
    """A second factor of Ada's account."""

    kind: ClassVar[str]
    settings: ClassVar[Mapping[str, Any]] = {}
    """The tenant's settings besides the switch of the factor."""

    def __init__(self, ada: Ada, app: Any) -> None:
        self.ada, self.app = ada, app

    @contextmanager
    def ready(self) -> Iterator[Self]:
        """Run with the fake services that the factor needs."""
        yield self

    def enrol(self, page: Page) -> None:
        """Enrol the factor on the page that requires it."""
        raise NotImplementedError

    def verify(self, page: Page) -> None:
        raise NotImplementedError

    def submit_wrong(self, page: Page) -> None:
        """Submit a wrong response and expect its error."""
        raise NotImplementedError


class CodeFactor(BrowserFactor):
    """A factor verified by six digits."""

    def code(self) -> str:
        raise NotImplementedError

    def verify(self, page: Page) -> None:
        enter_code(page, self.code())

    def submit_wrong(self, page: Page) -> None:
        enter_code(page, other_code(self.code()))
        expect_field_error(page, "code")


class SentCodeFactor(CodeFactor):
    """A factor whose code is sent."""

    def code(self) -> str:
        return code_in(self.sent()[-1])

    def sent(self) -> list[dict[str, Any]]:
        """Return the messages with a code, oldest first."""
        raise NotImplementedError

    def begin(self, page: Page) -> None:
        """Request the first code."""
        raise NotImplementedError

    def enrol(self, page: Page) -> None:
        self.begin(page)
        self.verify(page)


class AppFactor(CodeFactor):
    kind = "totp"
    key: pyotp.TOTP

    def read_key(self, page: Page) -> None:
        """Read the key that the page folds. Phones fold the QR code with it, wider windows show that."""
        expect(page.locator(".key")).to_be_hidden()
        page.locator(".setup summary:visible").click()
        expect(page.locator(".qr svg path")).to_be_visible()
        expect(page.locator(".key")).to_be_visible()
        self.key = pyotp.TOTP(page.locator(".key").inner_text().replace(" ", ""))

    def code(self) -> str:
        return self.key.at(self.ada.world.services.clock.now())

    def enrol(self, page: Page) -> None:
        self.read_key(page)
        self.verify(page)


class SmsFactor(SentCodeFactor):
    kind = "sms"
    number = "+44 20 7946 0123"

    def sent(self) -> list[dict[str, Any]]:
        return sent_messages(self.ada.world.services, self.ada.world.tenant_id, "sms")

    def begin(self, page: Page) -> None:
        page.locator("[name=target]").fill("12")
        send(page, "target")
        expect_field_error(page, "target")
        page.locator("[name=target]").fill(self.number)
        send(page, "target")


class MailFactor(SentCodeFactor):
    kind = "email"

    def sent(self) -> list[dict[str, Any]]:
        return [mail for mail in self.ada.mails() if has_code(mail)]

    def begin(self, page: Page) -> None:
        page.locator("main button[value=choose]").click()


class QuestionsFactor(BrowserFactor):
    kind = "security_questions"
    settings = {"security_questions": {"pet": "Your first pet?", "city": "Where were you born?", "hill": "Which hill?"}}
    answers = {"pet": "Grey Owl", "hill": "Wrekin"}

    def submit_answers(self, page: Page, **answers: str) -> None:
        for question, answer in answers.items():
            page.locator(f"[name='answer.{question}']").fill(answer)
        page.locator("main button[value=prove]").click()

    def enrol(self, page: Page) -> None:
        self.submit_answers(page, pet=self.answers["pet"])
        expect_error_notice(page)  # too few answers
        self.submit_answers(page, **self.answers)

    def verify(self, page: Page) -> None:
        expect(page.locator("[name='answer.city']")).to_have_count(0)
        self.submit_answers(page, pet=" grey  owl", hill="WREKIN")

    def submit_wrong(self, page: Page) -> None:
        self.submit_answers(page, **{**self.answers, "hill": "Ben Nevis"})
        expect_error_notice(page)


class DuoFactor(BrowserFactor):
    kind = "duo"
    settings = {"duo": DUO}

    @contextmanager
    def ready(self) -> Iterator[Self]:
        store_service_secrets(tenant_server_of(self.ada.world, self.app), duo={"client_secret": SECRET})
        with duo(self.ada.world.services) as tenant:
            tenant.leads = self.ada.served_address
            yield self

    def go_to_duo(self, page: Page, choice: str) -> None:
        page.locator("main button[value=choose]").click()
        page.locator(f"#{choice}").click()

    def enrol(self, page: Page) -> None:
        self.go_to_duo(page, "allow")

    def verify(self, page: Page) -> None:
        self.go_to_duo(page, "allow")

    def submit_wrong(self, page: Page) -> None:
        self.go_to_duo(page, "deny")
        expect_error_notice(page)


class PushFactor(BrowserFactor):
    kind = "push"
    settings = {"push": PUSH}

    @contextmanager
    def ready(self) -> Iterator[Self]:
        here = tenant_server_of(self.ada.world, self.app)
        store_service_secrets(here, push=AWS_KEY)
        self.phone = Phone(here)
        yield self

    def enrol(self, page: Page) -> None:
        answered(self.phone.scan(pairing_address(self.ada.world)))
        self.submit_answer(page, self.phone.respond("Yes"))

    def verify(self, page: Page) -> None:
        self.submit_answer(page, self.phone.respond("Yes", number=page.locator(".number").inner_text()))

    def submit_wrong(self, page: Page) -> None:
        self.submit_answer(page, self.phone.respond("No"))
        expect_error_notice(page)
        self.ada.advance_clock(seconds=31)
        page.locator("main button[value=choose]").click()

    def submit_answer(self, page: Page, answer: TestResponse) -> None:
        """The page goes on by a click as well: its own asking has a test of its own."""
        answered(answer)
        page.locator("main button[value=prove]").click()


FACTORS: tuple[type[BrowserFactor], ...] = (AppFactor, PushFactor, SmsFactor, MailFactor, QuestionsFactor, DuoFactor)


def expect_field_error(page: Page, name: str) -> None:
    """Expect an error next to the field that assistive technology announces as well."""
    field = page.locator(f"[name={name}][aria-invalid=true]")
    expect(field).to_be_visible()
    expect(page.locator(f"#{(field.get_attribute('aria-describedby') or '').split()[-1]}")).not_to_be_empty()


def expect_error_notice(page: Page) -> None:
    """Expect an error above the form, where no single field is wrong."""
    expect(page.locator("#summary")).not_to_be_empty()


def has_code(mail: dict[str, Any]) -> bool:
    try:
        return bool(code_in(mail))
    except IndexError:
        return False
