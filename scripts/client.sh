# To be sourced: builds the library, and says how swiftc compiles a program with it, as SwiftPM would.
#   client_flags      the options of swiftc
#   objects           the objects of KeyValueObserving, which are linked with -lffi
#   testing_objects   those of KeyValueObservingTesting
scripts/quietly.sh "$(basename "$0" .sh)-library" swift build --scratch-path .build --target KeyValueObservingTesting
products=$(realpath "$(swift build --scratch-path .build --show-bin-path)")
client_flags=(-swift-version 6 -I "$products/Modules" -I "$PWD/CShim/include" -I "$PWD/Sources/CSwiftRuntime/include"
  -load-plugin-executable "$products/KeyValueObservingMacros-tool#KeyValueObservingMacros"
  -plugin-path "$(dirname "$(readlink -f "$(command -v swift)")")/../lib/swift/host/plugins/testing")
# Those of the present sources: the build deletes no object whose source was moved or removed.
mapfile -t objects < <(
  find Sources/KeyValueObserving -name '*.swift' -printf "$products/KeyValueObserving.build/%f.o\n"
  find CShim/src -name '*.c' -printf "$products/CKVO.build/src/%P.o\n"
  find Sources/CSwiftRuntime -name '*.c' -printf "$products/CSwiftRuntime.build/%P.o\n"
)
mapfile -t testing_objects < <(
  find Sources/KeyValueObservingTesting -name '*.swift' -printf "$products/KeyValueObservingTesting.build/%f.o\n"
)
