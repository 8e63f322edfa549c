#!/bin/sh
# Usage: headers.sh INCLUDE_FOLDER COMPILER ARGUMENTS...
#
# Every public header compiles alone, and needs no header outside of its folder but those of the
# libraries that the arguments name.
include=$1
shift
cd "$include" || exit 1
ls headwater/*.hpp > /dev/null || exit 1
printf '%s\n' headwater/*.hpp |
  xargs -P "$(nproc)" -I HEADER "$@" -x c++ -fsyntax-only -I. -include HEADER /dev/null
