#!/usr/bin/env bash
# Brings the Node packages of speech-infra into the cache folder and links them here. A second clone needs no network.
#   infra/setup.sh           installs what is missing
#   infra/setup.sh --check   succeeds when nothing is missing
set -euo pipefail
INFRA="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=setup/common.sh
source "$INFRA/../setup/common.sh"
# shellcheck source=setup/steps.sh
source "$SETUP_DIR/steps.sh"

KEY="$(cat "$INFRA/package.json" "$INFRA/package-lock.json" | sha256sum | cut -c1-16)"
TARGET="$HEADROOM_CACHE/infra-$KEY"

linked() {
    complete "$TARGET" "$KEY" && [[ "$(readlink "$INFRA/node_modules" || true)" == "$TARGET/node_modules" ]]
}

if linked; then exit 0; fi
if [[ "${1:-}" == --check ]]; then exit 1; fi
if ! complete "$TARGET" "$KEY"; then
    bin="$(node_bin)" || die "no Node.js 20 or later; run ./dev setup, which brings one"
    rm -rf "$TARGET"
    mkdir -p "$TARGET"
    cp "$INFRA/package.json" "$INFRA/package-lock.json" "$INFRA/.npmrc" "$TARGET/"
    # No install scripts: nothing that a package brings is run.
    (cd "$TARGET" && PATH="$bin:$PATH" logged infra-npm npm ci --ignore-scripts --loglevel error --cache "$HEADROOM_CACHE/npm")
    mark_complete "$TARGET" "$KEY"
fi
if [[ -e "$INFRA/node_modules" && ! -L "$INFRA/node_modules" ]]; then
    die "$INFRA/node_modules is a folder of its own; remove it, so that the pinned packages of the cache can be linked"
fi
ln -sfn "$TARGET/node_modules" "$INFRA/node_modules"
