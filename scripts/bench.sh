#!/usr/bin/env bash
# Runs the benchmarks, optimised. They are a package of their own, so that their dependencies are nobody else's.
set -euo pipefail
cd "$(dirname "$0")/.."
exec swift run -c release --package-path Benchmarks kvo-bench "$@"
