"""The operations that may compute a password hash, and so wait in the queue for hashing (decisions/0152).

PINs and security answers are hashed as passwords are. An operation that hashes but is not listed here works while the CPU
is free, logs `hashing.undeclared` and is refused with 503 if it would have to wait; in tests it fails.
"""

from __future__ import annotations

from typing import Final

from app.kit.operation import Hashing

_SIGN_IN: Final = "sign-in"
_BULK: Final = "bulk"
_SECRET: Final = ("password", "pin", "answer")

_ALWAYS: Final = {
    _SIGN_IN: """
        hub.alarm hub.change_password hub.confirm_with_password hub.edit_answers hub.reset hub.reset_pin
        hub.reset_pin_by_answers hub.set_own_pin hub.set_password hub.set_pin_at_sign_in hub.sign_in
        passwords.change passwords.reset passwords.reset_by_answer passwords.reset_by_sms
        pins.change pins.reset_by_answer_and_email pins.reset_by_answer_and_phone pins.reset_by_answer_and_username
        pins.reset_by_code pins.reset_by_token pins.set_first pins.with_pin
        second_factors.keep_answers second_factors.with_answers second_factors.with_new_answers second_factors.with_password
        sign_in.with_password step_up.with_answers step_up.with_password step_up.with_pin
    """,
    _BULK: """
        accounts.create hub.register passkeys.finish_sign_up passwords.set registration.register
        registration.register_with_captcha
    """,
}
_WITH_SECRET: Final = {
    _SIGN_IN: """
        hub.add_email hub.add_factor hub.add_passkey hub.ask_deletion hub.ask_phone hub.begin_factor hub.edit_profile
        hub.edit_username hub.fill_missing hub.finish_connection hub.link_identity hub.make_backup_codes hub.make_primary
        hub.open_link hub.open_sign_in_link hub.own_data hub.prove_factor hub.remove_email hub.remove_factor
        hub.remove_passkey hub.remove_phone hub.sign_in_approved hub.sign_in_code hub.unlink_identity
        oauth_tokens.token oauth_tokens.token_with_key
        passwordless.by_email_code passwordless.by_sms_code passwordless.by_username_code phones.verify
        self_service.delete_by_code self_service.unlock self_service.update smart_login.touch_code
        verification.by_code
    """,
    _BULK: "accounts.update accounts.update_by_identifier",
}

HASHING: Final = {
    name: Hashing(work, mentions)
    for table, mentions in ((_ALWAYS, ()), (_WITH_SECRET, _SECRET))
    for work, names in table.items()
    for name in names.split()
}
"""By operation. Those of `_WITH_SECRET` wait only if the request contains a password, a PIN or an answer."""
