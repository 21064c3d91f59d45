"""What links and codes prove."""

from enum import StrEnum


class Purpose(StrEnum):
    """What is proved, and for what: a link of one kind opens nothing of another."""

    EMAIL = "email"
    PHONE = "phone"
    RESET_PASSWORD = "reset_password"
    RESET_PASSKEY = "reset_passkey"
    RESET_PIN = "reset_pin"
    STEP_UP_EMAIL = "step_up_email"
    ALARM = "password_alarm"
    DELETE_ACCOUNT = "delete_account"
    ADD_EMAIL = "add_email"
    ADD_PHONE = "add_phone"
    FACTOR_SMS = "factor_sms"
    FACTOR_EMAIL = "factor_email"
    SIGN_IN = "sign_in"
    SMART_LOGIN = "smart_login"
    ONE_TOUCH = "one_touch"
