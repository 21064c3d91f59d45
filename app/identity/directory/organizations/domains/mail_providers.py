"""Domains of providers that give mailboxes to everyone, or for a few minutes: no organization can claim one."""

from __future__ import annotations

from typing import Final

_FREE: Final = """
    126.com 163.com 21cn.com abv.bg aim.com alice.it aliyun.com aol.com aol.de arcor.de bellsouth.net bigpond.com bk.ru bluewin.ch
    bol.com.br btinternet.com caiway.nl centrum.cz charter.net comcast.net cox.net daum.net duck.com earthlink.net email.cz email.de
    eircom.net fastmail.com fastmail.fm foxmail.com free.fr freemail.hu freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net
    googlemail.com hanmail.net hey.com home.nl hotmail.be hotmail.ca hotmail.ch hotmail.co.uk hotmail.com hotmail.com.br hotmail.de
    hotmail.es hotmail.fr hotmail.it hotmail.nl hushmail.com icloud.com ig.com.br inbox.lv inbox.ru interia.pl kakao.com kpnmail.nl
    laposte.net libero.it list.ru live.ca live.co.uk live.com live.de live.fr live.it live.nl lycos.com mac.com mail.bg mail.com mail.de
    mail.ee mail.ru mailbox.org me.com msn.com nate.com naver.com neuf.fr ntlworld.com o2.pl online.de onet.pl op.pl optonline.net
    orange.fr outlook.at outlook.com outlook.de outlook.es outlook.fr outlook.it pm.me posteo.de proton.me protonmail.ch
    protonmail.com qq.com rambler.ru rediffmail.com rocketmail.com rogers.com sapo.pt sbcglobal.net seznam.cz sfr.fr shaw.ca sina.cn
    sina.com sky.com skynet.be sohu.com sympatico.ca t-online.de talktalk.net telenet.be telia.com terra.com.br tin.it tiscali.it
    tuta.com tutanota.com tutanota.de ukr.net uol.com.br verizon.net virgilio.it virgin.net virginmedia.com vodafone.de vodafone.it
    volny.cz wanadoo.fr web.de wp.pl xs4all.nl ya.ru yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.ar yahoo.com.au
    yahoo.com.br yahoo.com.mx yahoo.de yahoo.es yahoo.fr yahoo.in yahoo.it yahoo.pl yandex.com yandex.ru yeah.net ymail.com ziggo.nl
    zoho.com zohomail.com
"""
_DISPOSABLE: Final = """
    10minutemail.com 20minutemail.com 33mail.com anonaddy.com burnermail.io byom.de discard.email dispostable.com emailondeck.com
    fakeinbox.com getairmail.com getnada.com grr.la guerrillamail.biz guerrillamail.com guerrillamail.de guerrillamail.info
    guerrillamail.net guerrillamail.org inboxbear.com inboxkitten.com mail-temp.com mail.tm mailcatch.com maildrop.cc mailinator.com
    mailinator.net mailnesia.com mailsac.com mintemail.com mohmal.com mytemp.email sharklasers.com simplelogin.com spam4.me
    spambox.us spamgourmet.com temp-mail.io temp-mail.org tempail.com tempinbox.com tempmail.com tempmail.net tempmailo.com
    throwawaymail.com tmpmail.net tmpmail.org trash-mail.com trashmail.com trashmail.de trashmail.net wegwerfemail.de yopmail.com
    yopmail.fr yopmail.net
"""
_DOMAINS: Final = frozenset(f"{_FREE} {_DISPOSABLE}".split())


def is_mail_provider(domain: str) -> bool:
    """Return whether a domain, or one above it, belongs to such a provider."""
    labels = domain.split(".")
    return any(".".join(labels[start:]) in _DOMAINS for start in range(len(labels) - 1))
