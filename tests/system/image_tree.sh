#!/bin/bash
# Runs one command in an image's tree as SageMaker would run the container: own network without any route, own processes, no rights.
#   image_tree.sh TREE MODEL_DIR COMMAND...    (inside: unshare --net --mount --pid --fork)
set -euo pipefail
tree="$1"
model="$2"
shift 2
mount --make-rprivate / 2> /dev/null || true # not possible in a chroot; the tree's own mount below is private there too
mount --bind "$tree" "$tree"
mount --make-rprivate "$tree"
ip link set lo up
mount -t proc proc "$tree/proc"
mkdir -p "$tree/dev/shm"
mount -t tmpfs tmpfs "$tree/dev/shm"
: > "$tree/dev/null.tmp" && mv "$tree/dev/null.tmp" "$tree/dev/null"
mount --bind /dev/null "$tree/dev/null"
: > "$tree/dev/urandom"
mount --bind /dev/urandom "$tree/dev/urandom"
mount --bind "$model" "$tree/opt/ml/model"
mount -o remount,bind,ro "$tree/opt/ml/model"
exec setpriv --no-new-privs chroot --userspec=10001:10001 --groups= "$tree" "$@"
