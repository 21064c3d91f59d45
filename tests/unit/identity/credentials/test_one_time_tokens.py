"""Links and codes: used once under concurrency, bound to tenant, account and purpose, closed after five wrong codes."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from app.contract import errors
from app.identity.assembly.clean_up import expired_rows
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE, SMS_CODE, CodeErrors
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.services import IdentityServices
from app.kit.operations.errors import ApiError
from app.kit.text.code_normalization import typed_code
from tests.support.services.identity_service import MovableClock
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

KIND, ADDRESS = Purpose.EMAIL, "ada@example.test"
ROOMY = {"lockout": {"type": "none"}, "limits": {"email_codes_tried_per_day": 0}}


class Holder:
    """An account of a tenant that gets links and codes."""

    def __init__(self, tenant: TenantServer) -> None:
        self.tenant, self.services = tenant, tenant.services
        self.uid = str(tenant.create()["Uid"])

    def asks(self, what: Callable[[Context], str]) -> str:
        with call_of(self.services, self.tenant.name) as call:
            made = what(call)
            call.work.commit()
            return made

    def link(self, kind: Purpose = KIND, **how: Any) -> str:
        return self.asks(lambda call: one_time_tokens.new_link(call, kind, self.uid, subject=ADDRESS, **how))

    def code(self, **how: Any) -> str:
        return self.asks(lambda call: one_time_tokens.new_code(call, KIND, self.uid, subject=ADDRESS, **how))

    def message(self, kind: Purpose = KIND, code_minutes: int = 5) -> tuple[str, str]:
        """Return the link and the code of one message."""
        issued = []

        def issue(call: Context) -> str:
            issued.append(
                one_time_tokens.issue(call, kind, self.uid, subject=ADDRESS, link_minutes=60, code_minutes=code_minutes)
            )
            return ""

        self.asks(issue)
        return issued[0].token, issued[0].code.text

    def opens(self, token: str, kind: Purpose = KIND) -> OneTimeToken:
        with call_of(self.services, self.tenant.name) as call:
            spent = one_time_tokens.spend_link(call, kind, token)
            call.work.commit()
            return spent

    def types(
        self,
        code: str,
        uid: str | None = None,
        errors: CodeErrors = MAIL_CODE,
        kind: Purpose = KIND,
    ) -> OneTimeToken:
        with call_of(self.services, self.tenant.name) as call:
            spent = one_time_tokens.spend_code(call, kind, uid or self.uid, code, subject=ADDRESS, errors=errors)
            call.work.commit()
            return spent

    def results(self, tries: list[Callable[[], object]]) -> Counter[str]:
        together = threading.Barrier(len(tries))

        def run(spend: Callable[[], object]) -> str:
            together.wait()
            try:
                spend()
            except ApiError as refusal:
                return type(refusal).__name__
            return "won"

        with ThreadPoolExecutor(len(tries)) as pool:
            return Counter(pool.map(run, tries))


@pytest.fixture
def holder(new_tenant_server: NewTenantServer) -> Holder:
    return Holder(new_tenant_server(**ROOMY))


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06d}"


def test_only_one_of_fifty_concurrent_link_uses_succeeds(holder: Holder) -> None:
    token = holder.link()
    results = holder.results([lambda: holder.opens(token)] * 50)
    assert results == {"won": 1, "UsedLink": 49}


def test_only_one_of_fifty_concurrent_code_uses_succeeds(holder: Holder) -> None:
    code = holder.code()
    results = holder.results([lambda: holder.types(code)] * 50)
    assert results["won"] == 1
    assert set(results) <= {"won", "UsedMailCode", "ClosedMailCode"}


def test_only_five_of_fifty_concurrent_guesses_are_checked(holder: Holder) -> None:
    code = holder.code()
    results = holder.results([lambda: holder.types(wrong(code))] * 50)
    assert results == {"WrongMailCode": 5, "ClosedMailCode": 45}
    with pytest.raises(errors.ClosedMailCode):
        holder.types(code)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("kind", Purpose)
def test_link_and_code_of_a_message_are_spent_together(holder: Holder, kind: Purpose) -> None:
    link, code = holder.message(kind)
    holder.opens(link, kind)
    with pytest.raises(errors.UsedMailCode):
        holder.types(code, kind=kind)
    link, code = holder.message(kind)
    holder.types(code, kind=kind)
    with pytest.raises(errors.UsedLink):
        holder.opens(link, kind)


@pytest.mark.both_databases
@pytest.mark.parametrize("is_known", [True, False], ids=["an account", "no account"])
def test_raced_link_and_code_of_a_message_have_one_winner(holder: Holder, is_known: bool) -> None:
    holder.uid = holder.uid if is_known else NO_ACCOUNT
    for _ in range(3):
        link, code = holder.message()
        results = holder.results([partial(holder.opens, link), partial(holder.types, code)] * 10)
        assert results["won"] == 1
        assert set(results) <= {"won", "UsedLink", "UsedMailCode", "ClosedMailCode"}


def test_link_after_its_code_expired_spends_both(holder: Holder) -> None:
    clock = holder.services.clock
    assert isinstance(clock, MovableClock)
    link, code = holder.message()
    clock.advance(minutes=6)
    holder.opens(link)
    with pytest.raises(errors.UsedMailCode):
        holder.types(code)


def test_wrong_codes_leave_the_link_usable(holder: Holder) -> None:
    """Anyone may type codes for an address; its owner's link cannot be guessed, so guesses must not end it."""
    link, code = holder.message()
    for _ in range(one_time_tokens.MAX_ATTEMPTS):
        with pytest.raises(errors.WrongMailCode):
            holder.types(wrong(code))
    assert holder.opens(link).uid == holder.uid
    with pytest.raises(errors.ClosedMailCode):
        holder.types(code)


def test_newer_message_ends_both_halves_of_the_older(holder: Holder) -> None:
    for newer in (holder.link, holder.code, holder.message):
        link, code = holder.message()
        newer()
        with pytest.raises(errors.ExpiredLink):
            holder.opens(link)
        with pytest.raises((errors.WrongMailCode, errors.ClosedMailCode)):
            holder.types(code)


def test_spent_message_leaves_those_to_others_usable(holder: Holder) -> None:
    other, (link, _) = Holder(holder.tenant), holder.message()
    another_purpose, other_code = holder.message(Purpose.SIGN_IN)[0], other.message()[1]
    holder.opens(link)
    assert holder.opens(another_purpose, Purpose.SIGN_IN).uid == holder.uid
    assert other.types(other_code).uid == other.uid


def test_peek_does_not_use_the_link(holder: Holder) -> None:
    token = holder.link()
    with call_of(holder.services, holder.tenant.name) as call:
        assert one_time_tokens.peek_link(call, KIND, token).subject == ADDRESS
        assert one_time_tokens.peek_link(call, KIND, token).uid == holder.uid
    assert holder.opens(token).subject == ADDRESS
    with pytest.raises(errors.UsedLink):
        holder.opens(token)


def test_rollback_leaves_the_link_unused(holder: Holder) -> None:
    token = holder.link()
    with call_of(holder.services, holder.tenant.name) as call:
        one_time_tokens.spend_link(call, KIND, token)
    assert holder.opens(token).uid == holder.uid


def test_correct_code_is_reusable_after_a_rollback(holder: Holder) -> None:
    code = holder.code()
    for _ in range(8):
        with call_of(holder.services, holder.tenant.name) as call:
            one_time_tokens.spend_code(call, KIND, holder.uid, code, subject=ADDRESS, errors=MAIL_CODE)
    assert holder.types(code).uid == holder.uid


def test_link_is_unknown_at_another_tenant(holder: Holder, globex: TenantServer) -> None:
    token = holder.link()
    with pytest.raises(errors.UnknownLink):
        Holder(globex).opens(token)
    assert holder.opens(token).uid == holder.uid


def test_code_is_wrong_for_another_account(holder: Holder) -> None:
    code, other = holder.code(), Holder(holder.tenant)
    other.code()
    with pytest.raises((errors.WrongMailCode, errors.ClosedMailCode)):
        holder.types(code, uid=other.uid)
    assert holder.types(code).uid == holder.uid


@pytest.mark.parametrize("kind", [kind for kind in Purpose if kind is not KIND])
def test_link_is_unknown_for_another_purpose(holder: Holder, kind: Purpose) -> None:
    token = holder.link()
    with pytest.raises(errors.UnknownLink):
        holder.opens(token, kind)


@pytest.mark.parametrize(
    "cut", [lambda text: text[:-1], lambda text: "", lambda text: text + "x", lambda text: "\x00" * 9]
)
def test_damaged_link_is_unknown(holder: Holder, cut: Callable[[str], str]) -> None:
    token = holder.link()
    with pytest.raises(errors.UnknownLink):
        holder.opens(cut(token))
    assert holder.opens(token).uid == holder.uid


def test_newer_link_or_code_ends_the_older(holder: Holder) -> None:
    older, newer = holder.link(), holder.link()
    with pytest.raises(errors.ExpiredLink):
        holder.opens(older)
    assert holder.opens(newer).uid == holder.uid
    first, second = holder.code(), holder.code()
    if first != second:
        with pytest.raises(errors.WrongMailCode):
            holder.types(first)
    assert holder.types(second).uid == holder.uid


def test_expired_link_and_code_are_refused(holder: Holder) -> None:
    clock = holder.services.clock
    assert isinstance(clock, MovableClock)
    token, code = holder.link(minutes=10), holder.code(minutes=5)
    clock.advance(minutes=5, seconds=1)
    with pytest.raises(errors.ExpiredMailCode):
        holder.types(code)
    clock.advance(minutes=5)
    with pytest.raises(errors.ExpiredLink):
        holder.opens(token)


def test_second_use_of_a_code_gives_the_error_of_its_channel(holder: Holder) -> None:
    code = holder.code()
    holder.types(code)
    with pytest.raises(errors.UsedMailCode):
        holder.types(code)
    with pytest.raises(errors.UsedSmsCode):
        holder.types(code, errors=SMS_CODE)


@pytest.mark.parametrize(
    "typed",
    [
        "{} {}",
        "{}-{}",
        " {}–{} ",
        "{}\u2212{}",
        "{}ー{}",
        "{}－{}",
        "{}\u00a0{}",
        "\u200e{}{}\u200f",
        "arabic",
        "full width",
        "devanagari",
    ],
)
def test_code_is_read_in_any_script_and_grouping(holder: Holder, typed: str) -> None:
    code = holder.code()
    zeros = {"arabic": 0x660, "full width": 0xFF10, "devanagari": 0x966}
    shown = typed.format(code[:3], code[3:])
    if typed in zeros:
        shown = "".join(chr(zeros[typed] + int(digit)) for digit in code)
    assert typed_code(shown) == code
    assert holder.types(shown).uid == holder.uid


@pytest.mark.parametrize("typed", ["", "abc", "²" * 6, "9" * 10_000, "\ud800", "１２３"])
def test_malformed_code_is_wrong(holder: Holder, typed: str) -> None:
    holder.code()
    with pytest.raises(errors.WrongMailCode):
        holder.types(typed)


def test_wrong_codes_lock_the_account(new_tenant_server: NewTenantServer) -> None:
    holder = Holder(new_tenant_server(lockout={"type": "suspend", "maximum_failed_attempts": 4}))
    code = holder.code()
    for _ in range(4):
        with pytest.raises(errors.WrongMailCode):
            holder.types(wrong(code))
    with pytest.raises(errors.LockedForAWhile) as locked:
        holder.types(code)
    assert locked.value.data is not None
    assert "LoginLockedTimeout" in locked.value.data
    assert holder.tenant.read(holder.uid)["IsLoginLocked"] is True


def test_correct_code_resets_the_failure_count(new_tenant_server: NewTenantServer) -> None:
    holder = Holder(new_tenant_server(lockout={"type": "suspend", "maximum_failed_attempts": 4}))
    for _ in range(3):
        code = holder.code()
        for _ in range(3):
            with pytest.raises(errors.WrongMailCode):
                holder.types(wrong(code))
        assert holder.types(code).uid == holder.uid


@pytest.mark.database_alone
def test_long_expired_tokens_are_removed(holder: Holder, services: IdentityServices) -> None:
    clock = services.clock
    assert isinstance(clock, MovableClock)
    token = holder.link(minutes=10)
    expired_rows.clean(services.database, clock.now() + timedelta(days=6))
    with call_of(services, holder.tenant.name) as call:
        assert one_time_tokens.find_link(call, KIND, token) is not None
    expired_rows.clean(services.database, clock.now() + timedelta(days=8))
    with call_of(services, holder.tenant.name) as call:
        assert one_time_tokens.find_link(call, KIND, token) is None
