#!/usr/bin/env bash
# Runs the C suite and the crash catalogue on other processors and with musl: i386 and musl on this machine's own kernel, the others in
# qemu-user. libffi is compiled from Debian's source package. All output is in build/ports.
#   scripts/check-ports.sh [i386 aarch64 riscv64 armhf s390x musl]…     default: all of them
# What qemu-user cannot do is skipped, and named with its reason.
set -euo pipefail
cd "$(dirname "$0")/.."
(($#)) || set -- i386 aarch64 riscv64 armhf s390x musl
out=$PWD/build/ports
jobs=$(nproc)
mkdir -p "$out"
scripts/require.sh cmake ninja-build gcc make pkg-config

# describe PORT: sets triple, packages, compiler, flags, emulator.
describe() {
  flags="-O1 -g" emulator="" processor=$1
  case $1 in
    i386) triple=i686-linux-gnu processor=i686 packages="gcc-i686-linux-gnu libc6-dev-i386-cross" ;;
    aarch64) triple=aarch64-linux-gnu packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross" emulator=qemu-aarch64-static ;;
    riscv64) triple=riscv64-linux-gnu packages="gcc-riscv64-linux-gnu libc6-dev-riscv64-cross" emulator=qemu-riscv64-static ;;
    armhf) triple=arm-linux-gnueabihf packages="gcc-arm-linux-gnueabihf libc6-dev-armhf-cross" emulator=qemu-arm-static ;;
    s390x) triple=s390x-linux-gnu packages="gcc-s390x-linux-gnu libc6-dev-s390x-cross" emulator=qemu-s390x-static ;;
    musl) triple=x86_64-linux-musl processor=x86_64 packages=musl-tools ;;
    *) echo "check-ports: there is no port $1" >&2; exit 64 ;;
  esac
  compiler=$triple-gcc
  [[ -z $emulator ]] || packages+=" qemu-user-static"
  if [[ $1 == musl ]]; then
    # The kernel's headers are glibc's neighbours.
    # musl-gcc does not ask for the table of frames, without which the unwinder ends the program.
    links="-Wl,--eh-frame-hdr $out/find_object.o"
    compiler=musl-gcc flags+=" -idirafter /usr/include -idirafter /usr/include/$(gcc -print-multiarch)"
  else
    # Found by the kernel and by qemu, also where the program starts itself again.
    loader=$(find "/usr/$triple/lib" -maxdepth 1 -name 'ld*.so.*' 2>/dev/null | head -1 || true) # not installed yet
    links="-Wl,--dynamic-linker=$loader -Wl,--disable-new-dtags,-rpath,/usr/$triple/lib"
  fi
}

# Debian's source package of libffi, with lists of packages of our own: those of the machine may name no sources.
fetch_libffi() {
  [[ -z $(find "$out" -maxdepth 1 -name 'libffi-*' -type d) ]] || return 0
  local apt=$out/apt site options
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  site=$(. /etc/os-release; apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(CODENAME)' | awk -v name="$VERSION_CODENAME" '$2 == "Debian" && $3 == name { print $1; exit }')
  (. /etc/os-release; echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site $VERSION_CODENAME main") >"$apt/sources.list"
  options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
    -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  (cd "$out" && apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only libffi) >"$out/libffi.log" 2>&1 ||
    { tail -5 "$out/libffi.log"; exit 1; }
  tar -xf "$out"/libffi_*.orig.tar.gz -C "$out"
}

build_libffi() {
  local folder=$out/$1-libffi
  [[ ! -e $folder/lib/libffi.a ]] || return 0
  fetch_libffi
  mkdir -p "$folder/build"
  (cd "$folder/build" && "$(find "$out" -maxdepth 1 -name 'libffi-*' -type d)"/configure --host="$triple" CC="$compiler $flags" --prefix="$folder" \
    --disable-docs --disable-shared --disable-multi-os-directory --with-pic CFLAGS="-O2 -funwind-tables" && make install) >"$folder.log" 2>&1 ||
    { tail -5 "$folder.log"; exit 1; }
}

# skip PATTERN REASON
skip() {
  skipped+="${skipped:+|}$1"
  echo "  skipped: $1: $2"
}

# Programs of the suite; single tests skip themselves.
what_cannot_run() {
  skipped=""
  echo "  not built: throwing, abi_program_cpp and all of cxx: compilers of C++ for this processor are not asked for"
  case $1 in
    i386 | armhf)
      skip "^typed$|^coding$" "these tests expect that a long has 8 bytes"
      skip "^report_images$|^report_modules$|^swift_names$" "these tests make ELF files of 64 bits"
      ;;&
    armhf) skip "^reports$|^report_stacks$|^nesting_cycles$|^interrupting$|^cancelling$" "qemu-user has a program of 32 bits elsewhere in /proc/self/mem" ;;
    musl) echo "  not built: leaving: musl has no makecontext" ;;
  esac
}

failed=0
for port in "$@"; do
  describe "$port"
  # shellcheck disable=SC2086 # words
  scripts/require.sh $packages
  describe "$port"
  [[ $port == musl || -n $loader ]] || { echo "check-ports: there is no dynamic loader in /usr/$triple/lib" >&2; exit 1; }
  [[ $port != musl ]] || musl-gcc -O1 -fPIC -c Tests/CAPI/support/find_object.c -o "$out/find_object.o"
  build_libffi "$port"
  folder=$out/$port
  {
    cmake -S CShim -B "$folder" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$processor" -DCMAKE_C_COMPILER="$compiler" \
      -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="${links:-}" -DCMAKE_SHARED_LINKER_FLAGS="${links:-}" -DCMAKE_MODULE_LINKER_FLAGS="${links:-}" -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator" \
      -DFFI_INCLUDE_DIR="$out/$port-libffi/include" -DFFI_LIBRARY="$out/$port-libffi/lib/libffi.a" && cmake --build "$folder" -j "$jobs"
  } >"$folder.log" 2>&1 || { grep -E "error|undefined" "$folder.log" | head -20; echo "$port: cannot be built"; failed=1; continue; }
  echo "$port:"
  what_cannot_run "$port"
  export LDFLAGS=$links KVO_TEST_FEWER=1
  # In the emulator fewer rounds of what takes long.
  [[ -z $emulator ]] || export KVO_TEST_EMULATOR=$(command -v "$emulator") KVO_TEST_FEWER=8
  ctest --test-dir "$folder" ${skipped:+-E "$skipped"} -j "$jobs" --timeout 300 --output-on-failure >"$folder.ctest.log" 2>&1 || failed=1
  results=$folder/Testing/Temporary/LastTest.log
  awk '/^test_[a-z_]*: [0-9]+ passed, [0-9]+ failed$/ { good += $2; bad += $4 } /^skipped: / { skipped++ }
    END { printf "  tests: %d passed, %d failed, %d skipped\n", good, bad, skipped }' "$results"
  sed -n '/tests passed/s/^/  programs: /p; /The following tests FAILED/,/^Errors/p' "$folder.ctest.log"
  grep -h '^skipped: ' "$results" | sed 's/^/  /' || true
  echo "  crash catalogue, in one process: $(scripts/crashes.py --record $emulator "$folder/tests/kvo_crash" | tail -1)"
  unset KVO_TEST_EMULATOR KVO_TEST_FEWER LDFLAGS links
done
exit $failed
