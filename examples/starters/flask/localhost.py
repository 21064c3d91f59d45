"""Development only: browsers find http://NAME.localhost on this machine; this makes Python find it everywhere, too."""

import socket


def resolve():
    """Resolve names below localhost to the loopback address, as RFC 6761 (section 6.3) asks of resolvers."""
    getaddrinfo = socket.getaddrinfo

    def with_localhost(host, *args, **options):
        is_local = isinstance(host, str) and host.endswith(".localhost")
        return getaddrinfo("127.0.0.1" if is_local else host, *args, **options)

    socket.getaddrinfo = with_localhost
