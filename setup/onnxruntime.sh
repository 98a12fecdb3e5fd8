#!/usr/bin/env bash
# Puts ONNX Runtime for C++ into the cache: the shared object out of the pinned wheel, the headers out of Debian trixie's package.
# With --check: only says (exit status) whether that was done. Installs no package: the headers are fetched with sources and lists of
# their own and unpacked. The C API is versioned, so headers of an older version fit the newer library.
# shellcheck source=setup/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VERSION=1.32.0
HEADERS=1.21.0+dfsg-1
HEADERS_SHA=14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08
KEY="onnxruntime $VERSION headers $HEADERS $HEADERS_SHA"

if complete "$HEADROOM_ONNXRUNTIME" "$KEY"; then
    exit 0
elif [[ "${1:-}" == --check ]]; then
    exit 1
fi

# The mirror that this machine already takes Debian from; trixie lies on the same one.
debian_mirror() {
    # shellcheck disable=SC2016 # apt fills these in
    apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' \
        | awk '$1 == "bookworm" && $2 == "main" && !found { found = $3 } END { print found }'
}

# Unsigned is no loss: the package's own hash is pinned here, and nothing but that file is taken.
fetch_headers() {
    local target="$1" mirror work options
    mirror="$(debian_mirror)"
    [[ -n "$mirror" ]] || die "apt knows no mirror of bookworm main, so ONNX Runtime's headers cannot be fetched; run apt-get update, and see /etc/apt/sources.list"
    work="$(mktemp -d "$HEADROOM_DOWNLOADS/.part.XXXXXX")"
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    echo "deb [trusted=yes target=Packages] $mirror trixie main" > "$work/sources.list"
    options=(-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$work/lists"
        -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=3)
    logged onnxruntime-lists apt-get "${options[@]}" update
    (cd "$work" && logged onnxruntime-headers apt-get "${options[@]}" download "libonnxruntime-dev=$HEADERS")
    mv "$work/$(basename "$target")" "$target"
    rm -rf "$work"
}

package="$HEADROOM_DOWNLOADS/libonnxruntime-dev_${HEADERS}_amd64.deb"
[[ -f "$package" ]] || fetch_headers "$package"
check_sha256 "$package" "$HEADERS_SHA"

library="$HEADROOM_VENV_BUILD/lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.$VERSION"
[[ -f "$library" ]] || die "$library is missing; remove $HEADROOM_VENV_BUILD and run ./dev setup again"
rm -rf "$HEADROOM_ONNXRUNTIME"
mkdir -p "$HEADROOM_ONNXRUNTIME/lib"
dpkg -x "$package" "$HEADROOM_ONNXRUNTIME/.unpacked"
mv "$HEADROOM_ONNXRUNTIME/.unpacked/usr/include/onnxruntime" "$HEADROOM_ONNXRUNTIME/include"
rm -rf "$HEADROOM_ONNXRUNTIME/.unpacked"
ln "$library" "$HEADROOM_ONNXRUNTIME/lib/" 2> /dev/null || cp "$library" "$HEADROOM_ONNXRUNTIME/lib/"
ln -s "libonnxruntime.so.$VERSION" "$HEADROOM_ONNXRUNTIME/lib/libonnxruntime.so.1"
mark_complete "$HEADROOM_ONNXRUNTIME" "$KEY"
