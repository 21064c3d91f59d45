"""Errors that operations share: groups that a declaration lists as `errors=(*SMS_CODE, …)`."""

from app.contract import errors as e

UID_ERRORS = (e.MalformedUid, e.UnknownUid)
"""An account is addressed by its id, in the path or in the query."""
CAPTCHA = (e.WrongCaptcha, e.WrongSecondCaptcha)
LOCKS = (e.AccountBlocked, e.LockedForAWhile, e.LockedForCaptcha, e.LockedForSecurityQuestion)
LOCK_ANSWERS = (e.UnknownSecurityQuestion, e.WrongQuestionOrAnswer, *CAPTCHA)
"""The request may answer the challenge of a lock."""
LOCK_CHALLENGES = (*LOCKS, e.LockedDuringStep, *LOCK_ANSWERS, e.WrongSecurityAnswer)
REQUIRED_ACTIONS = (e.PrivacyPolicyOutdated, e.ConsentNeeded, e.PinRequired)
"""The tenant requires something before a completed sign-in gets a session; `Data` of each error holds the token to continue."""
SESSION_ERRORS = (*LOCKS, *REQUIRED_ACTIONS, e.LoginDisabled, e.LoginNotAllowed, e.TooManySessions)
"""The account may not get a session."""
REAUTHENTICATION = (*LOCKS, e.NotAuthenticated, e.WrongCurrentPassword)
LINK = (e.UnknownLink, e.UsedLink, e.ExpiredLink)
EMAIL_CODE = (e.WrongMailCode, e.UsedMailCode, e.ExpiredMailCode, e.ClosedMailCode)
SMS_CODE = (e.WrongSmsCode, e.UsedSmsCode, e.ExpiredSmsCode, e.ClosedSmsCode)
SMS_SENDING = (e.NoSmsConfiguration, e.VoiceOtpOff, e.SmsLimitReached, e.SharedSmsLimitReached)
EMAIL_SENDING = (e.MailLimitReached, e.VerificationUrlRefused)
NEW_PASSWORD = (e.FieldsRefused, e.WeakPassword, e.PasswordNotAcceptable, e.NewPasswordBreached)
IDENTIFIER_KINDS = (e.UsernameLoginOn, e.UsernameLoginOff, e.PhoneLoginOn, e.PhoneLoginOff)
"""The tenant chooses which identifiers sign in."""
CONTACT_TAKEN = (e.ClosedLink, e.EmailRegistered, e.PhoneTaken)
"""Another account has since verified the address or the number."""
ACCOUNT_EMAIL = (e.EmailMissing, e.MalformedEmail, e.EmailNotOnProfile)
EMAIL_DOMAINS = (e.EmailRefused, e.EmailDomainRefused)
ADDED_EMAIL = (
    *EMAIL_DOMAINS, e.MalformedEmail, e.EmailTaken, e.EmailNotAddable, e.EmailUpdateRefused, e.EmailTypeMissing, e.EmailActionRefused,
    e.EmailRegistered,
)  # fmt: skip
PASSKEY = (e.PasskeysOff, e.PasskeyRefused, e.PasskeyMisconfigured)
SECURITY_ANSWERS = (
    e.UnknownSecurityQuestion,
    e.NoSecurityAnswers,
    e.WrongSecurityAnswer,
    e.WrongQuestionOrAnswer,
    e.SecurityQuestionsOff,
)
RECORDS = (e.UnknownRecord, e.MalformedRecord, e.WrongRecordCode, e.RecordCodeMissing)
"""Choices of registration fields."""
