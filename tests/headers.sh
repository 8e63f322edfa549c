#!/bin/sh
# Usage: headers.sh INCLUDE_FOLDER COMPILER ARGUMENTS...
#
# Every public header compiles alone, and needs no header outside of its folder but those of the
# libraries that the arguments name. Headers that include Eigen anyway, by way of matrix.hpp, find it
# compiled: it takes most of the time.
include=$1
shift
cd "$include" || exit 1
ls headwater/*.hpp > /dev/null || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -r "$folder"' EXIT
eigen=$folder/eigen.hpp
echo '#include <Eigen/Core>' > "$eigen"
"$@" -x c++-header "$eigen" -o "$eigen.gch" || exit 1

# Headers that include matrix.hpp, headers that include these, and so on.
with_eigen=headwater/matrix.hpp
known=
while [ "$with_eigen" != "$known" ]; do
  known=$with_eigen
  including=$(grep -lF "$(printf '#include "%s"\n' $known)" headwater/*.hpp)
  with_eigen=$(printf '%s\n' $known $including | sort -u)
done
without=$(printf '%s\n' headwater/*.hpp | grep -vxF "$with_eigen")

compile() { xargs -P "$(nproc)" -I HEADER "$@" -x c++ -fsyntax-only -I. -include HEADER /dev/null; }
echo "$with_eigen" | compile "$@" -include "$eigen" && echo "$without" | compile "$@"
