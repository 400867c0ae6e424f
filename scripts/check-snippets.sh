#!/usr/bin/env bash
# Builds the code of README.md, of the guides and of the tutorials as programs of a client, and runs them: scripts/snippets.py
# says how they are put together, Tests/Tutorials/README.md how the steps of a tutorial. Compiles the examples in the doc comments.
#   scripts/check-snippets.sh             against the library as it is built here; a minute
#   scripts/check-snippets.sh --package   also as README's package, with the macro and without it; minutes
set -euo pipefail
cd "$(dirname "$0")/.."

out=build/snippets
mkdir -p "$out"
scripts/require.sh swift gcc g++ libffi-dev python3
python3 scripts/snippets.py "$out/programs"
. scripts/client.sh
lines() { python3 -c 'import json, sys; sys.stdout.writelines(f"{each}\n" for each in json.load(sys.stdin))' <"$1"; }

compile() { swiftc "${client_flags[@]}" -g "$@" -lffi; }

# Each step of each tutorial, as a program: it prints what its comments say, or ends with a fault, whose report the tutorial shows.
failed=0
for step in "$out"/programs/tutorials/*/*/; do
  name=$(basename "$(dirname "$step")") expected=$(lines "$step/expected.json") status=0
  compile -warnings-as-errors -module-name "$name" "$step/main.swift" "${objects[@]}" -o "$out/$name"
  # The shell would say that it was aborted.
  { SWIFT_BACKTRACE=enable=no "$out/$name" >"$step/printed" 2>"$step/report"; } 2>/dev/null || status=$?
  if [[ $expected == KVO* ]]; then
    report=Tests/Tutorials/$name.report
    sed -E 's/0x[0-9a-f]+/0x…/g; s/thread [0-9]+/thread …/; s/build-id [0-9a-f]+/build-id …/; s/^  process .*, swift-kvo .*/  process …, swift-kvo …/' "$step/report" >"$step/shown"
    [[ -z ${KVO_BLESS_TUTORIALS:-} ]] || cp "$step/shown" "$report"
    ((status == 134)) && grep -q "^$expected " "$step/report" && diff "$report" "$step/shown" || failed=1
  elif ((status != 0)) || ! diff <(lines "$step/expected.json") "$step/printed"; then
    cat "$step/report"
    failed=1
  fi
  ((failed == 0)) || { echo "check-snippets: step $(basename "$step") of the tutorial $name does not do what it says" >&2; exit 1; }
done
echo "the steps of the tutorials do what they say"

# The examples in doc comments name objects of a context; they compile, and are not run.
python3 scripts/comments.py "$out/comments/Examples.swift"
compile -typecheck -suppress-warnings -parse-as-library -module-name Comments "$out/comments/Examples.swift" \
  Tests/Snippets/Comments/Context.swift
echo "the examples of the doc comments compile"

for folder in "$out"/programs/*/; do
  compgen -G "$folder/*.swift" >/dev/null || continue
  guide=$(basename "$folder")
  compile -warnings-as-errors -parse-as-library -module-name Snippets "$folder"/*.swift Tests/Snippets/Main.swift \
    "${objects[@]}" "${testing_objects[@]}" -lTesting -lXCTest -o "$out/$guide"
  echo "== the code of $guide"
  "$out/$guide" --testing-library swift-testing
done

libkvo=$PWD/$(scripts/libkvo.sh)
for program in "$out"/programs/*/*.{c,cpp}; do
  compiler=(gcc -std=c11)
  [[ $program != *.cpp ]] || compiler=(g++ -std=c++17)
  "${compiler[@]}" -Wall -Wextra -Wpedantic -Wno-unused-parameter -Werror -ICShim/include "$program" "$libkvo/libkvo.so" -Wl,-rpath,"$libkvo" -o "$out/program"
  diff <("$out/program") <(lines "$program.expected")
  echo "${program#"$out/programs/"} prints what the guide says"
done
[[ ${1:-} == --package ]] || exit 0

# client <name> <main> <what Package.swift says of the dependency> [options of the build]: what it prints
client() {
  local app=build/client/$1 build=(swift build --disable-build-manifest-caching --package-path "build/client/$1" "${@:4}")
  mkdir -p "$app/Sources/App"
  ln -sfn ../.. build/client/swift-kvo
  sed "s|\.package(path: \"../swift-kvo\"|&$3|" "$out/programs/README/client.manifest" >"$app/Package.swift"
  cp "$2" "$app/Sources/App/main.swift"
  scripts/quietly.sh "check-snippets-$1" "${build[@]}"
  "$("${build[@]}" --show-bin-path)/App"
}
core=$out/programs/Observing/core
diff <(client core "$core.main" ", traits: []" --static-swift-stdlib) <(lines "$core.expected")
diff <(client app "$out/programs/README/client.main" "") <(lines "$out/programs/README/client.expected")
echo "README's package builds and runs, with the macro, and without it and with Swift's libraries linked statically"

# The manifest of GettingStarted.md says the same in full.
manifest() {
  mkdir -p build/client/first
  cp "$out/programs/$1/client.manifest" build/client/first/Package.swift
  swift package --package-path build/client/first dump-package
}
short=$(manifest README)
diff <(echo "$short") <(manifest GettingStarted)
echo "GettingStarted.md's package is README's"

# Testing.md as a package of a client, whose program must not be linked to what its tests are.
tests=build/client/tests
mkdir -p "$tests/Sources/App" "$tests/Tests/AppTests"
cp "$out/programs/Testing/client.manifest" "$tests/Package.swift"
cp "$out/programs/README/client.main" "$tests/Sources/App/main.swift"
cp "$out/programs/Testing/Program.swift" "$tests/Tests/AppTests"
scripts/quietly.sh check-snippets-tests swift test --disable-build-manifest-caching --package-path "$tests"
if ldd "$(swift build --package-path "$tests" --show-bin-path)/App" | grep -E 'lib(XCTest|Testing)'; then
  echo "check-snippets: a program that depends on KeyValueObserving is linked to what only tests need" >&2
  exit 1
fi
echo "Testing.md's package passes in XCTest and in Swift Testing"
