#!/bin/sh
# pkg_config.sh BUILD: what is installed at another place than it was configured for is found there.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$1" --prefix "$place/moved" >"$place/log"
folder=$(dirname "$(find "$place/moved" -name kvo-glib.pc)")
# Without what it requires, which need not be found here.
sed '/^Requires/d' "$folder/kvo-glib.pc" >"$folder/alone.pc"
header=$(PKG_CONFIG_PATH=$folder pkg-config --variable=includedir alone)/kvo/kvo_glib.h
library=$(PKG_CONFIG_PATH=$folder pkg-config --variable=libdir alone)/libkvo-glib.so
test -f "$header" && test -f "$library" && cmp "$header" "$place/moved/include/kvo/kvo_glib.h"
