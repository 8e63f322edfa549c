#!/usr/bin/env bash
# Usage: tests/reproduce.sh BUILD_FOLDER
#
# Checks that ./dev reproduce --quick succeeds and writes every picture and page that docs/ has.
set -euo pipefail
build=$1
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=build/reproduce-venv/bin/python
if [ ! -f build/reproduce-venv/installed ]; then
  echo "no build/reproduce-venv: ./dev test makes it"
  exit 77
fi
made=build/reproduce/quick
rm -rf "$made"
"$python" -B reproduce "$build" --quick
for file in results.md walkthrough.md $(cd docs && echo figures/*); do
  [ -s "$made/$file" ] || { echo "$made/$file was not written"; exit 1; }
done
