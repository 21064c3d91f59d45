"""Errors that operations share: groups that a declaration lists as `errors=(*SMS_CODE, …)`."""

from app.contract import errors

NEW_ORIGIN = (
    errors.RiskBlocked, errors.NewDevice, errors.NewBrowser, errors.NewCity, errors.NewCountry, errors.NewAddress,
)  # fmt: skip
"""The tenant refuses sign-ins from where the account has never signed in."""
UID_ERRORS = (errors.MalformedUid, errors.UnknownUid)
"""An account is addressed by its id, in the path or in the query."""
CAPTCHA = (errors.WrongCaptcha, errors.WrongSecondCaptcha)
LOCKS = (errors.AccountBlocked, errors.LockedForAWhile, errors.LockedForCaptcha, errors.LockedForSecurityQuestion)
LOCK_ANSWERS = (errors.UnknownSecurityQuestion, errors.WrongQuestionOrAnswer, *CAPTCHA)
"""The request may answer the challenge of a lock."""
LOCK_CHALLENGES = (*LOCKS, errors.LockedDuringStep, *LOCK_ANSWERS, errors.WrongSecurityAnswer)
REQUIRED_ACTIONS = (errors.PrivacyPolicyOutdated, errors.ConsentNeeded, errors.PinRequired)
"""The tenant requires something before a completed sign-in gets a session; `Data` of each error holds the token to continue."""
WORKFLOW_REFUSALS = (errors.WorkflowDenied, errors.WorkflowGone)
"""The workflow in force does not let the account sign in."""
WORKFLOW_ERRORS = (*WORKFLOW_REFUSALS, errors.WorkflowActionRequired)
"""The same, for programs, which no page asks for anything."""
SESSION_ERRORS = (
    *LOCKS, *REQUIRED_ACTIONS, *WORKFLOW_ERRORS, errors.LoginDisabled, errors.LoginNotAllowed, errors.TooManySessions,
)  # fmt: skip
"""The account may not get a session."""
DIRECTORY = (errors.DirectoryUnavailable, errors.DirectoryPasswordExpired, errors.LoginDisabled)
"""A directory checks the password."""
DIRECTORY_ACCOUNT = (
    *DIRECTORY, errors.AccountLinkingOff, errors.NotLinkable, errors.RegistrationOff, errors.PolicyNotAccepted, errors.IdentityTaken,
    errors.EmailRefused, errors.EmailDomainRefused,
)  # fmt: skip
"""The same, and the person may have no account yet."""
DIRECTORY_CHANGE = (*DIRECTORY, errors.DirectoryPasswordElsewhere, errors.DirectoryPasswordRefused)
REAUTHENTICATION = (*LOCKS, *DIRECTORY, errors.NotAuthenticated, errors.WrongCurrentPassword)
LINK = (errors.UnknownLink, errors.UsedLink, errors.ExpiredLink)
EMAIL_CODE = (errors.WrongMailCode, errors.UsedMailCode, errors.ExpiredMailCode, errors.ClosedMailCode)
SMS_CODE = (errors.WrongSmsCode, errors.UsedSmsCode, errors.ExpiredSmsCode, errors.ClosedSmsCode)
SMS_SENDING = (errors.NoSmsConfiguration, errors.VoiceOtpOff, errors.SmsLimitReached, errors.SharedSmsLimitReached)
EMAIL_SENDING = (errors.MailLimitReached, errors.VerificationUrlRefused)
NEW_PASSWORD = (errors.FieldsRefused, errors.WeakPassword, errors.PasswordNotAcceptable, errors.NewPasswordBreached)
IDENTIFIER_KINDS = (errors.UsernameLoginOn, errors.UsernameLoginOff, errors.PhoneLoginOn, errors.PhoneLoginOff)
"""The tenant chooses which identifiers sign in."""
CONTACT_TAKEN = (errors.ClosedLink, errors.EmailRegistered, errors.PhoneTaken)
"""Another account has since verified the address or the number."""
ACCOUNT_EMAIL = (errors.EmailMissing, errors.MalformedEmail, errors.EmailNotOnProfile)
EMAIL_DOMAINS = (errors.EmailRefused, errors.EmailDomainRefused)
ADDED_EMAIL = (
    *EMAIL_DOMAINS, errors.MalformedEmail, errors.EmailTaken, errors.EmailNotAddable, errors.EmailUpdateRefused, errors.EmailTypeMissing,
    errors.EmailActionRefused,
    errors.EmailRegistered,
)  # fmt: skip
PASSKEY = (errors.PasskeysOff, errors.PasskeyRefused, errors.PasskeyMisconfigured)
SECURITY_ANSWERS = (
    errors.UnknownSecurityQuestion,
    errors.NoSecurityAnswers,
    errors.WrongSecurityAnswer,
    errors.WrongQuestionOrAnswer,
    errors.SecurityQuestionsOff,
)
RECORDS = (errors.UnknownRecord, errors.MalformedRecord, errors.WrongRecordCode, errors.RecordCodeMissing)
"""Choices of registration fields."""
