#!/usr/bin/env bash
# Says whether the tests pass after the work on an item.
if make test >&2; then echo '{"ok": true}'; else echo '{"ok": false}'; fi
