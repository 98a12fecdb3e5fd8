#!/usr/bin/env bash
# Builds the file tree of the container image without Docker: tts-serve, every library it needs, a user without rights, nothing else.
# The Dockerfiles copy this very tree, so that running it in a chroot tests the image.
#   docker/build-tree.sh --out DIR [--binary FILE] [--libraries DIR]... [--model-dir DIR] [--without-espeak]
#     --binary FILE       default build/release/bin/tts-serve
#     --libraries DIR     takes every *.so* of DIR too (plugins that are opened at run time, such as ONNX Runtime's for CUDA)
#     --model-dir DIR     bakes prepared weights into /opt/ml/model; by default SageMaker puts them there
#     --without-espeak    leaves out eSpeak NG (GPL-3; words that no lexicon holds are then spelled)
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=setup/paths.sh
source "$ROOT/setup/paths.sh"

die() { printf 'build-tree: %s\n' "$*" >&2; exit 1; }
value() { [[ $# -ge 2 && -n "$2" ]] || die "$1 needs a value"; printf '%s' "$2"; }

out="" binary="$ROOT/build/release/bin/tts-serve" model="" espeak=1
extra=()
while (($#)); do
    case "$1" in
        --out) out="$(value "$@")"; shift 2 ;;
        --binary) binary="$(value "$@")"; shift 2 ;;
        --libraries) extra+=("$(value "$@")"); shift 2 ;;
        --model-dir) model="$(value "$@")"; shift 2 ;;
        --without-espeak) espeak=0; shift ;;
        -h | --help) sed -n '2,9s/^# \?//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) die "unknown option '$1' (--help)" ;;
    esac
done
[[ -n "$out" ]] || die "--out DIR is missing"
[[ -x "$binary" ]] || die "$binary is not there; run ./dev build, or name another with --binary"
if [[ -d "$out" && -n "$(ls -A "$out")" ]]; then die "$out is not empty; name a folder that is, or remove it"; fi

PREFIX=/opt/headroom
LIBRARIES="$out$PREFIX/lib"
mkdir -p "$out"/{etc,tmp,usr/bin,usr/lib64,usr/lib/x86_64-linux-gnu,usr/local/bin,usr/share/headroom,opt/ml/model,proc,dev} \
    "$out$PREFIX/bin" "$LIBRARIES"
chmod 1777 "$out/tmp"
ln -s usr/lib "$out/lib"
ln -s usr/lib64 "$out/lib64"
ln -s usr/bin "$out/bin"
sources="$(mktemp)" # every file that was taken from a Debian package: the material of the SBOM and of the licence texts
trap 'rm -f "$sources"' EXIT

# The C library goes where the loader looks, since a program and its loader must fit; all else goes beside the program, so that
# the same folder can be laid over another base image.
is_glibc() {
    case "$(basename "$1")" in
        ld-linux* | libc.so* | libm.so* | libmvec.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so* | libutil.so* | libanl.so*) return 0 ;;
        *) return 1 ;;
    esac
}

take_library() {
    local from="$1" name
    name="$(basename "$from")"
    if [[ "$name" == ld-linux* ]]; then
        [[ -e "$out/usr/lib64/$name" ]] && return 0
        cp -L "$from" "$out/usr/lib64/$name"
    elif is_glibc "$from"; then
        [[ -e "$out/usr/lib/x86_64-linux-gnu/$name" ]] && return 0
        cp -L "$from" "$out/usr/lib/x86_64-linux-gnu/$name"
    else
        [[ -e "$LIBRARIES/$name" ]] && return 0
        cp -L "$from" "$LIBRARIES/$name"
    fi
    readlink -f "$from" >> "$sources"
}

# take_needed FILE: every library that FILE is linked with, and their own.
take_needed() {
    local missing line
    missing="$(LD_LIBRARY_PATH="$HEADROOM_OPENVINO/openvino/libs" ldd "$1" | grep 'not found' || true)"
    [[ -z "$missing" ]] || die "$1 needs what is not installed: $missing"
    while read -r line; do take_library "$line"; done \
        < <(LD_LIBRARY_PATH="$HEADROOM_OPENVINO/openvino/libs" ldd "$1" | grep -o '/[^ ]*' | grep -v linux-vdso || true)
}

cp "$binary" "$out$PREFIX/bin/tts-serve"
take_needed "$binary"
# Opened at run time by the engine: the CPU plugin and the reader of the model's form.
for plugin in libopenvino_intel_cpu_plugin.so libopenvino_ir_frontend.so.2641; do
    take_library "$HEADROOM_OPENVINO/openvino/libs/$plugin"
    take_needed "$HEADROOM_OPENVINO/openvino/libs/$plugin"
done
for folder in "${extra[@]}"; do
    for library in "$folder"/*.so*; do
        [[ -f "$library" ]] || die "$folder holds no libraries"
        take_library "$library"
    done
done
if ((espeak)); then
    library="$(ldconfig -p | grep -o '/[^ ]*libespeak-ng.so.1' | head -n 1 || true)"
    [[ -n "$library" ]] || die "libespeak-ng is not installed; ./dev setup installs it, or pass --without-espeak"
    take_library "$library"
    take_needed "$library"
    cp -R /usr/lib/x86_64-linux-gnu/espeak-ng-data "$out/usr/lib/x86_64-linux-gnu/"
    dpkg -L espeak-ng-data | grep phontab >> "$sources"
fi
# A shell for the health check, which needs no other program.
cp -L /bin/bash "$out/usr/bin/bash"
readlink -f /bin/bash >> "$sources"
take_needed /bin/bash
install -m 0755 "$ROOT/docker/healthcheck.sh" "$out/usr/local/bin/healthcheck"
ln -s "$PREFIX/bin/tts-serve" "$out/usr/local/bin/tts-serve"
# Headers that are compiled into the program, and so belong to what is handed on.
printf '%s\n' /usr/include/{boost/version.hpp,nlohmann/json.hpp,CLI/CLI.hpp,tl/expected.hpp} >> "$sources"
strip --strip-unneeded "$out$PREFIX/bin/tts-serve"

printf 'headroom:x:10001:10001::/tmp:/usr/sbin/nologin\n' > "$out/etc/passwd"
printf 'headroom:x:10001:\n' > "$out/etc/group"
printf 'hosts: files dns\n' > "$out/etc/nsswitch.conf"
printf '127.0.0.1 localhost\n' > "$out/etc/hosts"
printf '%s\n' "$PREFIX/lib" > "$out/etc/ld.so.conf"
ldconfig -r "$out"
if [[ -n "$model" ]]; then
    /usr/bin/python3 "$ROOT/setup/check_model.py" "$model" > /dev/null || die "$model is not as its manifest says; ./dev setup makes it anew"
    cp -R "$model/." "$out/opt/ml/model/"
    rm -f "$out/opt/ml/model/.complete"
fi
cp "$ROOT/LICENSE" "$ROOT/NOTICE" "$out/usr/share/headroom/"
/usr/bin/python3 "$ROOT/docker/make_sbom.py" --sources "$sources" --tree "$out" --out "$out/usr/share/headroom/sbom.cdx.json" \
    --licences "$out/usr/share/headroom/licences"
echo "$out: $(du -sh "$out" | cut -f1), $(find "$out" -type f | wc -l) files"
