#!/bin/sh
# Usage: check.sh CMAKE BUILD_FOLDER
#
# Installs headwater into a separate folder, then builds and runs another project against it.
set -e
cmake=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --prefix "$scratch/prefix" > "$scratch/install.log"
"$cmake" -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" > "$scratch/configure.log"
"$cmake" --build "$scratch/build"
cd "$scratch"
./build/uses_headwater
"$scratch/prefix/bin/headwater" show model.h5
