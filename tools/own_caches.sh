# shellcheck shell=bash
# Sourced by what gets tools with npm and Go: what those keep for the next time stays in the
# checkout, not in a home. `drop_caches` removes it.
: "${root:?}"
export GOPATH=$root/build/go GOCACHE=$root/build/go-cache
export GOFLAGS="${GOFLAGS:-} -modcacherw" # or nobody but root could remove it
export npm_config_cache=$root/build/npm-cache npm_config_update_notifier=false

drop_caches() { rm -rf "$GOPATH" "$npm_config_cache"; }
