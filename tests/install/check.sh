#!/bin/sh
# Usage: check.sh CMAKE BUILD_FOLDER
#
# Installs headwater, moves what was installed to another folder, then builds and runs another project
# against it there.
set -e
cmake=$1
build=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --prefix "$scratch/installed" > "$scratch/install.log"
mv "$scratch/installed" "$scratch/moved"

# Nothing but the public headers is there.
(cd "$here/../../include" && find . -type f | sort) > "$scratch/public"
(cd "$scratch/moved/include" && find . -type f | sort) > "$scratch/found"
diff "$scratch/public" "$scratch/found"

# The exported package names no folder of this machine.
exported=$(dirname "$(find "$scratch/moved" -name headwaterTargets.cmake)")
if grep -nE '(^|[^A-Za-z0-9_}>.])/[A-Za-z0-9]' "$exported"/*.cmake; then
  echo "the exported package has absolute paths"
  exit 1
fi

"$cmake" -S "$here" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/moved" \
  > "$scratch/configure.log"
"$cmake" --build "$scratch/build"
cd "$scratch"
./build/uses_headwater
"$scratch/moved/bin/headwater" show model.h5
