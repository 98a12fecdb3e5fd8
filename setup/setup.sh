#!/usr/bin/env bash
# Brings everything Headroom needs onto a plain Debian 12, once: packages, libraries, Python environments, the model.
# Every step is skipped when it was finished before, so a second run takes seconds and no network, and a killed run goes
# on where it stopped. Everything but Debian's packages lies under ${XDG_CACHE_HOME:-~/.cache}/headroom.
# shellcheck source=setup/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
# shellcheck source=setup/steps.sh
source "$SETUP_DIR/steps.sh"

usage() {
    cat <<TEXT
usage: setup.sh [--quiet] [--without-tests]
  --quiet           prints nothing for steps that were finished before
  --without-tests   leaves out the Python packages that only the tests need
TEXT
}

WITH_TESTS=1
QUIET=0
for argument in "$@"; do
    case "$argument" in
        --without-tests) WITH_TESTS=0 ;;
        --quiet) QUIET=1 ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done

# Two clones share the cache; the second waits for the first.
exec 9> "$HEADROOM_CACHE/.setup.lock"
if ! flock -n 9; then
    echo "setup: another ./dev setup is running, waiting for it"
    flock 9
fi
rm -rf "$HEADROOM_DOWNLOADS"/.part.* # what a killed run left half fetched

STEPS=(
    "apt|Debian packages"
    "crt|AWS Common Runtime 0.38.1"
    "build_env|Python environment for the model"
    "openvino|OpenVINO 2026.4.1 for C++"
    "onnxruntime|ONNX Runtime 1.32.0 for C++"
    "node|Node.js 20 or later"
    "downloads|model, voices and lexicons"
    "model|model directory kokoro-82m"
    "onnx_model|model directory kokoro-82m-onnx, for ONNX Runtime"
)
((WITH_TESTS)) && STEPS+=("test_env|Python environment for the tests" "npm_test|JavaScript clients for the tests" "infra|packages of speech-infra")

begin=$SECONDS
number=0
worked=0
for step in "${STEPS[@]}"; do
    number=$((number + 1))
    name="${step%%|*}"
    if "have_$name" || { ((QUIET)) && [[ -e "$HEADROOM_CACHE/.left-out-$name" ]]; }; then
        ((QUIET)) || printf '[%d/%d] %s ... already there\n' "$number" "${#STEPS[@]}" "${step#*|}"
        continue
    fi
    worked=1
    printf '[%d/%d] %s ... ' "$number" "${#STEPS[@]}" "${step#*|}"
    started=$SECONDS
    if [[ "$name" != onnxruntime ]]; then
        "make_$name"
    elif ! make_onnxruntime; then # a mirror without Debian trixie is no reason to go without the rest
        touch "$HEADROOM_CACHE/.left-out-$name" # builds and lint do not try again; ./dev setup does
        echo "left out: tts-serve is built without --engine onnxruntime; the next ./dev setup tries again"
        continue
    fi
    rm -f "$HEADROOM_CACHE/.left-out-$name"
    "have_$name" || die "step '${step#*|}' ended but left something out; run ./dev setup again and see $HEADROOM_CACHE/log"
    echo "done ($((SECONDS - started)) s)"
done
((QUIET && !worked)) || echo "Headroom is set up in $HEADROOM_CACHE ($((SECONDS - begin)) s)"
