#!/usr/bin/env bash
# Compiles and runs the programs in Tests/Clients, each with the flags in its first line, once for each
# part between bars, in Swift 6 mode with warnings as errors.
# They use settings that a client package may have but this package has not. The ported code of Tests/PortingTests is compiled in
# the same way. Checks what the compiler says about likely mistakes (Mistakes), and tests a package with other dependencies (Streams).
#   scripts/check-clients.sh --quick   without Tests/Clients/Streams, for which the library is built once more, with another trait
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/require.sh swift git libffi-dev

out=build/clients
mkdir -p "$out"
. scripts/client.sh
client_flags+=(-warnings-as-errors)
failures=0

for client in Tests/Clients/*.swift; do
  name=$(basename "$client" .swift)
  IFS='|' read -ra ways <<<"$(sed -n '1s|^// flags:||p' "$client") "
  for way in "${ways[@]}"; do
    read -ra flags <<<"$way"
    if swiftc "${client_flags[@]}" "${flags[@]}" -parse-as-library "$client" "${objects[@]}" -lffi -o "$out/$name" && "$out/$name"; then
      echo "check-clients: $name ${flags[*]}"
    else
      echo "check-clients: $name ${flags[*]} FAILED" >&2
      failures=$((failures + 1))
    fi
  done
done

if swiftc "${client_flags[@]}" -typecheck Tests/PortingTests/*.swift; then
  echo "check-clients: the ported code gives no warnings"
else
  failures=$((failures + 1))
fi
if swiftc "${client_flags[@]}" -no-warnings-as-errors -typecheck -Xfrontend -verify -Xfrontend -verify-ignore-unrelated \
  Tests/Clients/Mistakes/Mistakes.swift; then
  echo "check-clients: the compiler says what to write in place of likely mistakes"
else
  failures=$((failures + 1))
fi
[[ ${1:-} != --quick ]] || exit "$((failures > 0))"
# A package of its own, with OpenCombine and swift-async-algorithms, which this package does not have.
if scripts/quietly.sh check-clients-streams swift test --package-path Tests/Clients/Streams --scratch-path .build \
  --disable-build-manifest-caching --disable-xctest; then
  echo "check-clients: Streams, a package with publishers and swift-async-algorithms"
else
  failures=$((failures + 1))
fi
exit "$((failures > 0))"
