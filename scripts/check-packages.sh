#!/usr/bin/env bash
# Builds and installs libkvo as others do, and uses what was installed: CMake from a copy of CShim alone, moved and absolute folders,
# pkg-config, a subproject, one kind of library, uninstalling; Debian packages, meson, the amalgamation with the whole C suite, sizes.
#   scripts/check-packages.sh --quick   CMake, pkg-config, a subproject and the amalgamation without the suite
set -euo pipefail
cd "$(dirname "$0")/.."
quick=false
[[ ${1:-} != --quick ]] || quick=true
out=$PWD/build/packages
consumer=$PWD/Tests/CAPI/consumer
scripts/require.sh libffi-dev cmake ninja-build gcc g++ pkg-config python3
$quick || scripts/require.sh lintian meson dpkg-dev file
mkdir -p "$out"
rm -rf "$out"/{alone,prefix,moved,root,one,use-*,subproject,meson,meson-alone}
log=$out/log
: >"$log"
passed=0
failed=0

# check WHAT COMMAND…: counts it, and prints its output if it fails.
check() {
  local what=$1
  shift
  if "$@" >"$log.one" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $what"
    tail -30 "$log.one"
  fi
  cat "$log.one" >>"$log"
}

# says PROGRAM [LIBDIR]: the program prints what the example in kvo.h says.
says() { [[ $(LD_LIBRARY_PATH=${2:-} "$1") == "x: 0 -> 3.5" ]]; }

# by_package PREFIX FOLDER [CMAKE ARGUMENT…]: builds and runs the consumer with find_package.
by_package() {
  local prefix=$1 folder=$out/$2
  shift 2
  cmake -S "$consumer" -B "$folder" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" "$@" && cmake --build "$folder" &&
    says "$folder/consumer" && says "$folder/consumer_cxx" && { [[ ! -e $folder/consumer_static ]] || says "$folder/consumer_static"; }
}

# by_pkg_config FOLDER LIBDIR [--static]
by_pkg_config() {
  local flags
  flags=$(PKG_CONFIG_PATH=$2/pkgconfig pkg-config --cflags --libs ${3:-} kvo) || return 1
  # shellcheck disable=SC2086 # words
  mkdir -p "$out/$1" && gcc "$consumer/main.c" ${3:+-static} $flags -o "$out/$1/program" && says "$out/$1/program" "$2"
}

optimises() { ! cmake -L -N "$1" | grep -q '^CMAKE_BUILD_TYPE:.*=$' && grep -q -- '-O[23]' "$1/build.ninja"; }
is_empty() { [[ -z $(find "$1" -type f -o -type l) ]]; }
installs_nothing() { ! cmake --install "$1" --prefix "$out/none" | grep -q kvo.h; }
lacks() { ! [[ -e $1 ]]; }

# ------------------------------------------------------------------------------------------------------------------- CMake

cp -r CShim "$out/alone"
check "CShim alone configures" cmake -S "$out/alone" -B "$out/alone/build" -G Ninja
check "it builds with optimisation by default" optimises "$out/alone/build"
check "it builds" cmake --build "$out/alone/build"
check "it installs" cmake --install "$out/alone/build" --prefix "$out/prefix"
check "CMake finds it, shared and static" by_package "$out/prefix" use-cmake
check "pkg-config finds it" by_pkg_config use-pc "$out/prefix/lib"
check "pkg-config finds it, static" by_pkg_config use-pc-static "$out/prefix/lib" --static
cp -r "$out/prefix" "$out/moved"
check "it can be uninstalled" cmake --build "$out/alone/build" --target uninstall
check "nothing is left" is_empty "$out/prefix"
check "CMake finds it where it was moved to" by_package "$out/moved" use-moved
check "pkg-config finds it where it was moved to" by_pkg_config use-pc-moved "$out/moved/lib"
check "it is loaded beside another one, with little thread-local storage" CShim/abi/check-tls.sh "$out/moved/lib/libkvo.so.1"

absolute() {
  cmake -S "$out/alone" -B "$out/alone/build" -DCMAKE_INSTALL_PREFIX=/opt/kvo -DCMAKE_INSTALL_LIBDIR=/opt/kvo/lib64 &&
    DESTDIR=$out/root cmake --install "$out/alone/build"
}
check "it installs into an absolute library folder" absolute
check "pkg-config finds it there, in another root" by_pkg_config use-pc-absolute "$out/root/opt/kvo/lib64"

with_manual() {
  rm -rf "$out/manual" && mkdir -p "$out/manual/man3" && echo .TH | gzip >"$out/manual/man3/kvo_add_observer.3.gz" &&
    cmake -S "$out/alone" -B "$out/alone/build" -DCMAKE_INSTALL_PREFIX=/usr -DKVO_MANUAL="$out/manual/man3" &&
    DESTDIR=$out/manual/root cmake --install "$out/alone/build" --component development &&
    [[ -s $out/manual/root/usr/share/man/man3/kvo_add_observer.3.gz ]]
}
check "it installs the manual pages that were made" with_manual

check "as a subproject it is used by target" by_package none use-subproject -DKVO_SUBPROJECT="$out/alone" -DCMAKE_BUILD_TYPE=Debug
check "as a subproject it installs nothing" installs_nothing "$out/use-subproject"
check "as a subproject it builds only what is used" lacks "$out/use-subproject/kvo/tests"
static_alone() {
  cmake -S "$out/alone" -B "$out/one/build" -G Ninja -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=Debug && cmake --build "$out/one/build" &&
    cmake --install "$out/one/build" --prefix "$out/one/prefix" && [[ ! -e $out/one/prefix/lib/libkvo.so ]] &&
    by_package "$out/one/prefix" use-one && by_pkg_config use-pc-one "$out/one/prefix/lib"
}
check "BUILD_SHARED_LIBS=OFF gives the static library only" static_alone

# ----------------------------------------------------------------------------------------------------------- Amalgamation

amalgamated=$out/amalgamation
clang=$(command -v clang || true)
alone_compiles() { "$1" -std=c11 -O1 -Wall -Wextra -Wpedantic -Werror "${@:2}" -c "$amalgamated/kvo.c" -o "$out/kvo.o"; }
one_program() {
  gcc -std=c11 -O0 -I"$amalgamated/include" "$consumer/main.c" "$amalgamated/kvo.c" -lffi -pthread -o "$out/one-program" &&
    says "$out/one-program"
}
check "the amalgamation is made" scripts/amalgamate.sh "$amalgamated"
check "a program compiles it with its own source" one_program
if ! $quick; then
  for compiler in gcc $clang; do
    check "it compiles without a warning with $compiler" alone_compiles "$compiler"
    check "it compiles without diagnostics with $compiler" alone_compiles "$compiler" -DKVO_DIAGNOSTICS=0
  done
  suite() {
    cmake -S CShim -B "$out/amalgamated" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKVO_AMALGAMATION="$amalgamated" &&
      cmake --build "$out/amalgamated" && ctest --test-dir "$out/amalgamated" --output-on-failure -j "$(nproc)"
  }
  check "it passes the C suite" suite

  # ----------------------------------------------------------------------------------------------------- Packages and meson

  debian() {
    cmake -S "$out/alone" -B "$out/debian" -G Ninja -DCMAKE_INSTALL_PREFIX=/usr && rm -f "$out"/debian/*.deb &&
      cmake --build "$out/debian" && (cd "$out/debian" && cpack -G DEB && cpack --config CPackSourceConfig.cmake)
  }
  unpacked() {
    rm -rf "$out/unpacked"
    for package in "$out"/debian/*.deb; do dpkg-deb -x "$package" "$out/unpacked" || return 1; done
    by_package "$out/unpacked/usr" use-debian
  }
  check "Debian packages are made" debian
  check "lintian finds nothing wrong" lintian --allow-root --fail-on error,warning "$out"/debian/*.deb
  check "what they contain can be used" unpacked
  with_meson() {
    cp -r "$consumer" "$out/meson" && mkdir "$out/meson/subprojects/packagefiles" &&
      cp "$out/debian"/kvo-*.tar.gz "$out/meson/subprojects/packagefiles" &&
      sed -i "s/@source_hash@/$(sha256sum "$out/debian"/kvo-*.tar.gz | cut -d ' ' -f 1)/" "$out/meson/subprojects/kvo.wrap" &&
      meson setup "$out/meson/build" "$out/meson" && meson test -C "$out/meson/build" consumer
  }
  check "meson uses it as a subproject" with_meson
  meson_alone() {
    meson setup "$out/meson-alone" "$out/alone" --prefix "$out/meson-alone/prefix" --libdir lib &&
      meson install -C "$out/meson-alone" && by_pkg_config use-pc-meson "$out/meson-alone/prefix/lib"
  }
  meson_versions() { [[ $(readelf --version-info "$out/meson-alone/prefix/lib/libkvo.so") == *KVO_1* ]]; }
  check "meson installs it" meson_alone
  check "its symbols have the versions that those of CMake have" meson_versions
  check "sizes" scripts/sizes.sh --check
  cat build/packages/log.one
fi
echo "check-packages: $passed passed, $failed failed"
[[ $failed == 0 ]]
