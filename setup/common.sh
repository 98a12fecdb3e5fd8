# Shared by the setup scripts: cache paths, messages, and steps that are either whole or absent.
# Sourced, never run. Not for anything that needs the build; no network use in this file except pip/npm/apt through the callers.
# shellcheck shell=bash
set -euo pipefail

SETUP_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=setup/paths.sh
source "$SETUP_DIR/paths.sh"
mkdir -p "$HEADROOM_CACHE" "$HEADROOM_DOWNLOADS" "$HEADROOM_CACHE/log"

# Debian's interpreter on purpose: the pinned wheels are built for its Python 3.11.
PYTHON=/usr/bin/python3
# pip's own cache too belongs to what ./dev setup brings, so that removing one folder removes everything.
export PIP_CACHE_DIR="$HEADROOM_CACHE/pip" PIP_DISABLE_PIP_VERSION_CHECK=1

# pip and Node bring certificate stores of their own; the system's is the one that a proxy's owner has extended.
# Called again after the Debian packages, which bring the store to a bare system.
use_system_certificates() {
    local store=/etc/ssl/certs/ca-certificates.crt
    if [[ -f "$store" ]]; then
        export PIP_CERT="${PIP_CERT:-$store}" NODE_EXTRA_CA_CERTS="${NODE_EXTRA_CA_CERTS:-$store}"
    fi
}
use_system_certificates

die() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# complete DIR KEY: succeeds when DIR was finished with exactly the inputs that KEY names.
complete() {
    [[ -f "$1/.complete" && "$(cat "$1/.complete")" == "$2" ]]
}

# mark_complete DIR KEY: the last thing a step does; a killed step leaves no stamp and starts again.
mark_complete() {
    printf '%s\n' "$2" > "$1/.complete.tmp"
    sync "$1/.complete.tmp"
    mv "$1/.complete.tmp" "$1/.complete"
}

# check_sha256 FILE HEX: refuses a file whose bytes are not the pinned ones.
check_sha256() {
    local got
    got="$(sha256sum "$1" | cut -d' ' -f1)"
    if [[ "$got" != "$2" ]]; then
        mv "$1" "$1.bad"
        die "$1 has SHA-256 $got, expected $2; the file was set aside as $1.bad, run ./dev setup again"
    fi
}

# fetch_pypi NAME VERSION FILE SHA256 [pip options]: FILE of that release in the downloads folder, hash checked.
# pip runs an sdist's metadata hook when it downloads it, which compiles nothing for the packages used here.
fetch_pypi() {
    local name="$1" version="$2" file="$3" sha="$4"
    shift 4
    local target="$HEADROOM_DOWNLOADS/$file" tmp
    if [[ ! -f "$target" ]]; then
        tmp="$(mktemp -d "$HEADROOM_DOWNLOADS/.part.XXXXXX")"
        "$PYTHON" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$tmp" "$@" "$name==$version" \
            || die "pip could not download $name $version; is the package registry reachable? Run ./dev setup again"
        [[ -f "$tmp/$file" ]] || die "pip brought $(ls "$tmp") for $name $version, expected $file"
        mv "$tmp/$file" "$target"
        rm -rf "$tmp"
    fi
    check_sha256 "$target" "$sha"
}

# logged NAME COMMAND...: runs a command with its output in a log, whose end is shown only when it fails.
logged() {
    local log="$HEADROOM_CACHE/log/$1.log"
    shift
    if ! "$@" > "$log" 2>&1; then
        tail -n 30 "$log" >&2
        die "failed: $* (whole output in $log)"
    fi
}
