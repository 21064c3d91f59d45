"""Common passwords: a short list of words, recognized with common substitutions, digits and signs."""

from __future__ import annotations

import re

_WORD_LIST = """
password passwort passwd passw pass pwd secret geheim kennwort motdepasse contrasena senha parola haslo wachtwoord
admin administrator root user guest test testing tester demo default changeme letmein welcome willkommen welkom bienvenue
login logon signin access enter start hello hallo hola bonjour abc abcd abcde abcdef abcdefg abcdefgh abcdefghi abcdefghij
qwerty qwertz azerty qwertyuiop qwertzuiop azertyuiop asdf asdfgh asdfghjkl asdfghj zxcvbn zxcvbnm yxcvbnm qazwsx qazwsxedc
iloveyou iloveu ichliebedich teamo jetaime loveyou lovely love mylove forever princess prinzessin princesa dragon monkey
sunshine shadow master superman batman spiderman pokemon starwars football fussball baseball basketball hockey soccer
liverpool chelsea arsenal barcelona realmadrid juventus schalke bayern borussia yankees cowboys eagles steelers lakers
michael jordan jennifer jessica charlie thomas robert daniel andrew joshua matthew nicole ashley hunter george harley
ranger buster tigger pepper ginger maggie bailey killer trustno freedom whatever computer internet samsung google apple
microsoft windows android facebook instagram twitter linkedin youtube netflix amazon summer winter spring autumn sommer
winter fruehling herbst januar februar april august september oktober november dezember january february march june july
october december monday tuesday wednesday thursday friday saturday sunday montag freitag sonntag cookie chocolate
schokolade banana orange cheese pizza coffee kaffee butterfly flower blume rainbow diamond silver golden purple yellow
money angel angels jesus christ blessed heaven family familie mother father mutter vater baby babygirl daddy mommy
mustang ferrari porsche mercedes corvette yamaha honda toyota thunder phoenix matrix gandalf merlin wizard ninja samurai
warrior hacker biteme fuckyou fuckoff asshole pussy bigdick sexy hardcore hottie naughty zaq xsw aaa zzz xxx temp temporary
company firma office buero server system database oracle cisco router wifi wireless network security sicherheit account
germany deutschland berlin hamburg muenchen london england paris france newyork america canada australia israel turkey
correcthorsebatterystaple opensesame passphrase masterkey topsecret supersecret mypassword thepassword newpassword
"""
_WORDS = frozenset(_WORD_LIST.split())
_SUBSTITUTIONS = str.maketrans("@4301!|5$7+", "aaeoiiisstt")
_SEQUENCES = (
    "01234567890123456789",
    "abcdefghijklmnopqrstuvwxyz",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
)
_LEFT_OUT = (re.compile(r"[\W_]+"), re.compile(r"[\W\d_]+"), re.compile(r"^[\W\d_]+|[\W\d_]+$"))
"""Signs; signs and digits; both at the ends."""
_RUNS = " ".join(line for run in _SEQUENCES for line in (run, run[::-1]))


def is_common(password: str) -> bool:
    """Return whether the password is a common word, with any digits and signs around or in it."""
    plain = _cores(password.casefold())
    forms = plain.union(*map(_cores, {form.translate(_SUBSTITUTIONS) for form in plain}))
    return not _WORDS.isdisjoint(forms) or any(map(_is_monotonous, forms))


def _cores(text: str) -> set[str]:
    """Return the text without signs, without digits, without either at its ends, and its half if that is repeated."""
    cores = {text} if text.isalpha() else {text, *[left_out.sub("", text) for left_out in _LEFT_OUT]}
    for core in tuple(cores):
        half = core[: len(core) // 2]
        if half * 2 == core:
            cores.add(half)
    cores.discard("")
    return cores


def _is_monotonous(text: str) -> bool:
    """Return whether the text repeats one or two characters, or follows the alphabet or a keyboard row."""
    if len(text) < 6:
        return False
    return len(set(text)) <= 2 or (text in _RUNS and " " not in text)
