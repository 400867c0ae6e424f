#!/usr/bin/env bash
# Makes the site of the library in build/docs, as static files for any host and any folder of it: all links between them are relative.
#   scripts/docs.sh           makes it; a warning of DocC or Doxygen is an error
#   scripts/docs.sh --serve   then serves it at http://127.0.0.1:8000, or the next argument's port, until it is interrupted
#   scripts/docs.sh --check   makes it, and fails if a link leads nowhere, a page has no summary, or no first page lists a public symbol
# Besides the toolchain, which has docc, its templates and the extractor of symbol graphs, it needs Doxygen for the pages of the C API.
# swift-docc-plugin would run the same programs; but as a dependency of the package each user of the library would have to fetch it, and it
# runs them with a catalogue as it is committed, without the articles that are made from Documentation/.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/require.sh swift libffi-dev python3 doxygen
export PYTHONDONTWRITEBYTECODE=1
work=build/site out=build/docs
graphs=$work/graphs
mkdir -p "$work"
rm -rf "$work"/*.doccarchive "$out"

scripts/quietly.sh docs-c scripts/manual.sh
scripts/symbol-graphs.sh "$graphs" -emit-extension-block-symbols
python3 scripts/site/parameters.py "$graphs"
python3 scripts/site/articles.py Sources/KeyValueObserving/KeyValueObserving.docc "$work/KeyValueObserving.docc" "$graphs/KeyValueObserving" \
  build/manual/xml/index.xml
python3 scripts/site/topics.py "$graphs/KeyValueObserving" "$work/KeyValueObserving.docc"

# convert <module> <catalogue> [option…]: an archive of the module
convert() {
  scripts/quietly.sh "docs-$1" docc convert "$2" --additional-symbol-graph-dir "$graphs/$1" --output-path "$work/$1.doccarchive" \
    --fallback-display-name "$1" --fallback-bundle-identifier "$1" --default-code-listing-language swift --warnings-as-errors \
    --enable-experimental-external-link-support --enable-experimental-overloaded-symbol-presentation "${@:3}"
}
convert KeyValueObserving "$work/KeyValueObserving.docc"
convert KeyValueObservingTesting Sources/KeyValueObservingTesting/KeyValueObservingTesting.docc --dependency "$work/KeyValueObserving.doccarchive"
docc merge "$work/KeyValueObserving.doccarchive" "$work/KeyValueObservingTesting.doccarchive" --output-path "$out" \
  --synthesized-landing-page-name swift-kvo --synthesized-landing-page-kind Package

cp -r build/manual/html "$out/c"
python3 scripts/site/publish.py "$out"
case ${1:-} in
  --check) python3 scripts/site/links.py "$out" ;;
  --serve)
    echo "http://127.0.0.1:${2:-8000}/"
    exec python3 -m http.server "${2:-8000}" --bind 127.0.0.1 --directory "$out"
    ;;
esac
