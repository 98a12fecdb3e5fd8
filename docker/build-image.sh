#!/usr/bin/env bash
# Builds the container image with Docker (BuildKit) or, where that is not installed, with buildah, which needs no daemon.
# Base images are named by digest, so that the same command gives the same image.
#   docker/build-image.sh cpu  --base debian:12-slim@sha256:DIGEST [options]
#   docker/build-image.sh cuda --base debian:12-slim@sha256:DIGEST --cuda-base nvidia/cuda:TAG@sha256:DIGEST [options]
#     TAG: a runtime of CUDA 13 with cuDNN 9 on Ubuntu 24.04 or later, such as 13.0.2-cudnn-runtime-ubuntu24.04
#     --tag NAME          default headroom-tts-serve:VERSION-KIND
#     --with-weights      bakes the weights in (no ModelCache stack is needed then; the image grows by 160 MB)
#     --without-espeak    leaves out eSpeak NG (GPL-3)
#     --with NAME         docker or buildah
#     --dry-run           prints the command
# Find a digest with: docker buildx imagetools inspect debian:12-slim (skopeo inspect docker://docker.io/library/debian:12-slim)
set -euo pipefail
ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
die() { printf 'build-image: %s\n' "$*" >&2; exit 2; }

kind="${1:-}"
[[ "$kind" == cpu || "$kind" == cuda ]] || { sed -n '2,13s/^# \?//p' "${BASH_SOURCE[0]}"; [[ "$kind" == --help || "$kind" == -h ]] && exit 0; exit 2; }
shift
base="" cuda="" tool="" weights=0 espeak=1 dry=0
version="$(sed -nE 's/^project\(headroom VERSION ([0-9.]+).*/\1/p' "$ROOT/CMakeLists.txt")"
tag="headroom-tts-serve:$version-$kind"
while (($#)); do
    case "$1" in
        --base | --cuda-base | --tag | --with)
            [[ $# -ge 2 ]] || die "$1 needs a value"
            case "$1" in --base) base="$2" ;; --cuda-base) cuda="$2" ;; --tag) tag="$2" ;; --with) tool="$2" ;; esac
            shift 2 ;;
        --with-weights) weights=1; shift ;;
        --without-espeak) espeak=0; shift ;;
        --dry-run) dry=1; shift ;;
        *) die "unknown option '$1' (--help)" ;;
    esac
done

by_digest() {
    [[ "$2" =~ @sha256:[0-9a-f]{64}$ ]] || die "$1 '$2' is not named by digest; give NAME@sha256:... (docker buildx imagetools inspect NAME)"
}
by_digest --base "$base"
if [[ -z "$tool" ]]; then
    tool=docker
    if ! command -v docker > /dev/null && command -v buildah > /dev/null; then tool=buildah; fi
fi
case "$tool" in
    # Without provenance the push is one image; with it, an index of several, which SageMaker refuses.
    docker) command=(docker buildx build --load --provenance=false) ;;
    # Docker's own image format, since the other has no health check.
    buildah) command=(buildah build --format docker --ignorefile "$ROOT/docker/Dockerfile.$kind.dockerignore") ;;
    *) die "--with $tool: give docker or buildah" ;;
esac
command+=(--platform linux/amd64 --file "$ROOT/docker/Dockerfile.$kind" --tag "$tag" --build-arg "BASE_IMAGE=$base"
    --build-arg "WITH_WEIGHTS=$weights" --build-arg "WITH_ESPEAK=$espeak")
if [[ "$kind" == cuda ]]; then
    by_digest --cuda-base "$cuda"
    command+=(--build-arg "CUDA_IMAGE=$cuda")
fi
command+=("$ROOT")
if ((dry)); then
    printf '%q ' "${command[@]}"
    echo
    exit 0
fi
command -v "$tool" > /dev/null || die "$tool is not installed (docker or buildah builds images); docker/build-tree.sh builds the image's files without them"
"${command[@]}"
inside=""
if ((weights)); then inside=" --weights-in-image"; fi
echo "$tag is built; next: $tool tag it for your ECR repository, $tool push, speech-infra deploy MODEL --image-uri REPOSITORY@sha256:...$inside"
