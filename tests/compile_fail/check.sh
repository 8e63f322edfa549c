#!/bin/sh
# Usage: check.sh WHAT FUNCTION COMPILER ARGUMENTS...
#
# Compiles WHAT_without_a_function.cc (WHAT: prior or law) without FUNCTION, or complete if FUNCTION
# is "nothing". Without a function, compilation must fail with a message that names it.
what=$1
function=$2
shift 2
output=$("$@" "-DWITHOUT_$function" 2>&1)
status=$?
if [ "$function" = nothing ]; then
  [ $status -eq 0 ] && exit 0
  echo "the complete $what does not compile:"
  echo "$output"
  exit 1
fi
if [ $status -eq 0 ]; then
  echo "compiled without $function"
  exit 1
fi
echo "$output" | grep -E "the $what lacks a function|the $what's" | grep -w "$function" && exit 0
echo "the message does not name $function:"
echo "$output"
exit 1
