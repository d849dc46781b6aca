#!/usr/bin/env bash
# Prints the number of the next round.
printf '{"rounds": %d}\n' "$((${1:-0} + 1))"
