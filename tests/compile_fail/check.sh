#!/bin/sh
# Usage: check.sh FUNCTION COMPILER ARGUMENTS...
#
# Compiles prior_without_a_function.cc without FUNCTION, or complete if FUNCTION is "nothing".
# Without a function, compilation must fail with a message that names it.
function=$1
shift
output=$("$@" "-DWITHOUT_$function" 2>&1)
status=$?
if [ "$function" = nothing ]; then
  [ $status -eq 0 ] && exit 0
  echo "the complete prior does not compile:"
  echo "$output"
  exit 1
fi
if [ $status -eq 0 ]; then
  echo "compiled without $function"
  exit 1
fi
echo "$output" | grep -E "the prior lacks a function|the prior's" | grep -w "$function" && exit 0
echo "the message does not name $function:"
echo "$output"
exit 1
