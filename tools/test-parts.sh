#!/usr/bin/env bash
# See to it that the real parts of the tests are there: PostgreSQL, PgBouncer, Redis, nginx, Caddy, Chromium, Apache with mod_auth_openidc
# and mod_auth_mellon, Shibboleth's service provider, SimpleSAMLphp, xmlsec1 for pysaml2, OpenLDAP with python-ldap, fonts, and what comes from npm.
# Root on Debian gets the missing parts; any other user gets one sentence that names them. Nothing is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

have_postgres() { command -v initdb >/dev/null && command -v postgres >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
any_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
installs_headless_shell() { [ "$(id -u)" = 0 ] && apt-cache show chromium-headless-shell; }
# A whole Chromium takes twice the headless shell's CPU time: it does where nothing can be installed.
have_chromium() { command -v chromium-headless-shell || { any_chromium && ! installs_headless_shell; }; } &>/dev/null
# Layouts are measured in the widths of these: with other fonts, words wrap elsewhere. DejaVu has Arabic.
have_fonts() { command -v fc-list >/dev/null && [ -n "$(fc-list 'Liberation Sans' family)" ] && [ -n "$(fc-list 'DejaVu Sans:lang=ar' family)" ]; }
have_python_ldap() { .venv/bin/python -c 'import ldap' 2>/dev/null; }

missing=()
have_postgres || missing+=(postgresql)
command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ] || missing+=(pgbouncer)
[ -e /usr/lib/apache2/modules/mod_auth_openidc.so ] || missing+=(apache2 libapache2-mod-auth-openidc)
[ -e /usr/lib/apache2/modules/mod_auth_mellon.so ] || missing+=(apache2 libapache2-mod-auth-mellon)
[ -e /usr/lib/apache2/modules/mod_shib.so ] || missing+=(apache2 libapache2-mod-shib)
[ -e /usr/share/simplesamlphp/www/module.php ] || missing+=(simplesamlphp php-cli php-xml php-mbstring)
command -v xmlsec1 >/dev/null || missing+=(xmlsec1)
command -v nginx >/dev/null || [ -x /usr/sbin/nginx ] || missing+=(nginx-light)
command -v caddy >/dev/null || missing+=(caddy)
command -v redis-server >/dev/null || missing+=(redis-server)
command -v slapd >/dev/null || [ -x /usr/sbin/slapd ] || missing+=(slapd ldap-utils)
have_python_ldap || [ -e /usr/include/ldap.h -a -e /usr/include/sasl/sasl.h ] || missing+=(gcc python3-dev libldap2-dev libsasl2-dev)
have_chromium || missing+=(chromium-headless-shell)
have_fonts || missing+=(fontconfig fonts-dejavu-core fonts-dejavu-extra fonts-liberation)

if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "make test: the tests run against real parts, and these are missing: ${missing[*]}. Run 'sudo apt-get install ${missing[*]}' first." >&2
        exit 1
    fi
    echo "Installing what the tests need: ${missing[*]} (a few minutes the first time) ..."
    apt-get update -qq
    # RUNLEVEL=1 keeps the packages from starting servers: the tests start their own.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" |
        sed -un 's/^Setting up \([^ ]*\).*/  \1/p'
fi

have_python_ldap || .venv/bin/python -m pip install --disable-pip-version-check --no-input --quiet --require-hashes -r requirements-ldap.lock

if ! cmp -s package-lock.json node_modules/.installed-lock; then
    echo "Installing the page checkers (axe-core, html-validate), OpenID clients and packages of the quickstarts ..."
    # Node trusts its own list of authorities unless it is configured to trust the system's, as pip and apt do.
    PATH="$PWD/.venv/bin:$PATH" NODE_USE_SYSTEM_CA=1 npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.installed-lock
fi
