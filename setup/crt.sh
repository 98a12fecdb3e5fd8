#!/usr/bin/env bash
# Builds the AWS Common Runtime C libraries once, from the source inside the awscrt sdist, against the system's OpenSSL.
# With --check: only says (exit status) whether that was done. Leaves out aws-lc (not needed with OpenSSL), mqtt and s3. Installs into the cache, where find_package sees it.
# shellcheck source=setup/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VERSION=0.38.1
SHA=0dcebfaa70cf079133cd2352119e3d05e9b8ca1d1621736cfb54c03f3d5fef0f
KEY="awscrt $VERSION $SHA release openssl static"

if complete "$HEADROOM_CRT" "$KEY"; then
    exit 0
elif [[ "${1:-}" == --check ]]; then
    exit 1
fi
fetch_pypi awscrt "$VERSION" "awscrt-$VERSION.tar.gz" "$SHA" --no-binary :all:

work="$HEADROOM_CACHE/.build-crt"
rm -rf "$work" "$HEADROOM_CRT"
mkdir -p "$work"
tar -xzf "$HEADROOM_DOWNLOADS/awscrt-$VERSION.tar.gz" -C "$work" --strip-components=2 \
    --exclude='*/crt/aws-lc' --exclude='*/crt/aws-c-mqtt' --exclude='*/crt/aws-c-s3' "awscrt-$VERSION/crt"
sed -i -E '/^add_subdirectory\(aws-c-(mqtt|s3)\)/d' "$work/CMakeLists.txt"

logged crt-configure cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF \
    -DUSE_OPENSSL=ON -DCMAKE_INSTALL_PREFIX="$HEADROOM_CRT" -DCMAKE_INSTALL_LIBDIR=lib
logged crt-build cmake --build "$work/build"
logged crt-install cmake --install "$work/build"
[[ -f "$HEADROOM_CRT/lib/libaws-c-auth.a" && -f "$HEADROOM_CRT/lib/libs2n.a" ]] \
    || die "the AWS Common Runtime was built but its libraries are not in $HEADROOM_CRT/lib"
rm -rf "$work"
mark_complete "$HEADROOM_CRT" "$KEY"
