#!/usr/bin/env bash
# Builds and installs libkvo, and runs the tests, the demos and the examples of its bindings against it. All output is in build/bindings.
#   scripts/check-bindings.sh --quick  with gcc
#   scripts/check-bindings.sh          also the library for GLib; and the host of Examples/, the Lua module and that library under
#                                      AddressSanitizer and ThreadSanitizer
set -euo pipefail
cd "$(dirname "$0")/.."

quick=false
[[ ${1-} == --quick ]] && quick=true
scripts/require.sh libffi-dev cmake ninja-build gcc g++ pkg-config python3 python3-pytest lua5.4 liblua5.4-dev
out=$PWD/build/bindings
mkdir -p "$out"
unset KVO_POLICY

# logged NAME COMMAND…: shows the output only if the command fails.
logged() {
  local log=$out/$1.log
  shift
  "$@" >"$log" 2>&1 || { cat "$log"; echo "check-bindings: failed: $*" >&2; exit 1; }
}

# library NAME [cmake arguments]: builds libkvo and installs it in build/bindings/NAME/prefix.
library() {
  local folder=$out/$1
  shift
  logged libkvo cmake -S CShim -B "$folder" -G Ninja -DKVO_BUILD_TESTS=OFF -DCMAKE_INSTALL_LIBDIR=lib "$@"
  logged libkvo cmake --build "$folder"
  logged libkvo cmake --install "$folder" --prefix "$folder/prefix"
}

library gcc
prefix=$out/gcc/prefix
export KVO_LIBRARY=$prefix/lib/libkvo.so PYTHONDONTWRITEBYTECODE=1

echo "== Python"
PYTHONPATH=bindings/python /usr/bin/python3 -m pytest -q -p no:cacheprovider bindings/python
# The wheel that pip would make and install.
wheel=$(cd bindings/python && /usr/bin/python3 -c 'import build_kvo, sys; print(build_kvo.build_wheel(sys.argv[1]))' "$out")
PYTHONPATH=$out/$wheel /usr/bin/python3 -c 'import kvo; assert kvo.__file__.endswith(".whl/kvo/__init__.py") and kvo.version() > 0'
logged python-demo env PYTHONPATH=bindings/python /usr/bin/python3 bindings/python/processes.py --seconds 0.5

# lua NAME [cmake arguments]: builds the Lua module and its test of threads in build/bindings/lua-NAME.
lua() {
  local name=$1
  shift
  logged lua cmake -S bindings/lua -B "$out/lua-$name" -G Ninja -DCMAKE_PREFIX_PATH="$out/$name/prefix" "$@"
  logged lua cmake --build "$out/lua-$name"
}

echo "== Lua"
lua gcc
export LUA_CPATH=$out/lua-gcc/?.so
lua5.4 bindings/lua/tests/run.lua
"$out/lua-gcc/test_states" 50
logged lua-memory "$out/lua-gcc/test_out_of_memory" bindings/lua/tests/out_of_memory.lua
logged lua-demo lua5.4 bindings/lua/processes.lua 2

# Each example prints expected.txt.
echo "== Examples"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib
read -ra flags < <(pkg-config --cflags --libs kvo)
logged first-c gcc -std=gnu11 -Wall -Wextra -Werror Examples/first/first.c "${flags[@]}" -o "$out/first-c"
logged first-cpp g++ -std=c++17 -Wall -Wextra -Werror Examples/first/first.cpp "${flags[@]}" -o "$out/first-cpp"
diff Examples/first/expected.txt <("$out/first-c")
diff Examples/first/expected.txt <("$out/first-cpp")
diff Examples/first/expected.txt <(PYTHONPATH=bindings/python /usr/bin/python3 Examples/first/first.py)
diff Examples/first/expected.txt <(lua5.4 Examples/first/first.lua)
unset LD_LIBRARY_PATH

# host NAME SECONDS [cmake arguments]: builds the host with its plug-ins and runs it.
host() {
  local name=$1 seconds=$2
  shift 2
  logged host cmake -S Examples/host -B "$out/host-$name" -G Ninja -DCMAKE_PREFIX_PATH="$out/$name/prefix" "$@"
  logged host cmake --build "$out/host-$name"
  LUA_CPATH=$out/lua-$name/?.so "$out/host-$name/host" "$out/host-$name" "$seconds"
}
host gcc 1
$quick && exit

scripts/require.sh libglib2.0-dev gobject-introspection libgirepository1.0-dev python3-gi libgtk-4-dev xvfb meson dpkg-dev
# glib NAME [cmake arguments]: builds the library for GLib and runs its tests.
glib() {
  local name=$1
  shift
  logged glib cmake -S bindings/glib -B "$out/glib-$name" -G Ninja -DCMAKE_PREFIX_PATH="$out/$name/prefix" -DCMAKE_INSTALL_LIBDIR=lib "$@"
  logged glib cmake --build "$out/glib-$name"
  logged glib-tests ctest --test-dir "$out/glib-$name" --output-on-failure
}
echo "== GLib"
glib gcc -DKVO_GLIB_INTROSPECTION=ON
"$out/glib-gcc/bench"
# The code of the README.
logged glib cmake --install "$out/glib-gcc" --prefix "$prefix"
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" bindings/glib/README.md | sed '/^```/d'; }
block c >"$out/window.c"
block python >"$out/window.py"
logged glib-python /usr/bin/python3 -m py_compile "$out/window.py"
read -ra flags < <(pkg-config --cflags --libs gtk4 kvo-glib)
logged glib-window gcc -std=gnu11 -Wall -Wextra -Werror "$out/window.c" "${flags[@]}" -o "$out/window"

# As a package, and with meson.
rm -rf "$out/glib-meson" "$out/glib-debian" "$out/glib-unpacked"
logged glib-debian cmake -S bindings/glib -B "$out/glib-debian" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_INSTALL_PREFIX=/usr \
  -DKVO_GLIB_BUILD_TESTS=OFF -DKVO_GLIB_INTROSPECTION=ON
logged glib-debian cmake --build "$out/glib-debian"
(cd "$out/glib-debian" && logged glib-debian cpack)
for package in "$out"/glib-debian/*.deb; do dpkg-deb -x "$package" "$out/glib-unpacked"; done
logged glib-meson meson setup "$out/glib-meson" bindings/glib --prefix "$out/glib-meson/prefix" --libdir lib
logged glib-meson meson install -C "$out/glib-meson"
for folder in "$out"/glib-unpacked/usr/lib/*/pkgconfig "$out/glib-meson/prefix/lib/pkgconfig"; do
  read -ra flags < <(PKG_CONFIG_PATH=$folder:$PKG_CONFIG_PATH pkg-config --cflags --libs gtk4 kvo-glib)
  logged glib-window gcc -std=gnu11 -Wall -Wextra -Werror "$out/window.c" "${flags[@]}" -o "$out/window"
done

echo "== Lua, GLib and the host, with sanitizers"
sanitized() {
  local name=$1 flags="-O1 -g -fno-omit-frame-pointer -fsanitize=$2"
  library "$name" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags"
  lua "$name" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags"
  export LUA_CPATH=$out/lua-$name/?.so
  "$out/lua-$name/test_states" 50
  logged lua-memory "$out/lua-$name/test_out_of_memory" bindings/lua/tests/out_of_memory.lua
  # lua5.4 itself is not built for it; the memory of its objects is checked all the same.
  if [[ $name == asan ]]; then
    logged lua-asan env LD_PRELOAD="$(gcc -print-file-name=libasan.so)" lua5.4 bindings/lua/tests/run.lua
  fi
  host "$name" 5 -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags"
  # GTK and its drivers leak.
  glib "$name" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" -DKVO_GLIB_WITH_GTK=OFF
}
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1
# GLib is not built for it.
export TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1:suppressions=$PWD/bindings/glib/tests/tsan.supp
sanitized asan address,undefined
sanitized tsan thread
