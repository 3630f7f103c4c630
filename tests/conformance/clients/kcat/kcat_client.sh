#!/usr/bin/env bash
# kcat (the librdkafka of Debian), called and heard as clients/python/conformance.py says. It creates no topics:
# PREFIX-lines with 12 partitions and PREFIX-grouped with 2 must be there.
set -uo pipefail
bootstrap=$1 prefix=$2 some=${3:-}
topic=$prefix-lines
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

k() { timeout 30 kcat -b "$bootstrap" -X client.id=kcat "$@" 2> "$work/stderr"; }

# check EXPECTED ACTUAL WHAT
check() {
  [ "$1" = "$2" ] && return 0
  why="$3: expected ${1:0:80}, not ${2:0:80} $(tail -1 "$work/stderr")"
  return 1
}

op() {
  local name=$1 began result=ok why=""
  shift
  case ",${some:-$name}," in *",$name,"*) ;; *) return 0 ;; esac
  began=$(date +%s%N)
  "$@" || { result="failed: ${why:-$* ended with $?: $(tail -1 "$work/stderr")}"; failed=1; }
  result=${result//$'\n'/ }
  printf 'op\t%s\t%d\t%s\n' "$name" $((($(date +%s%N) - began) / 1000000)) "${result//$'\t'/ }"
}

metadata() {
  local all
  all=$(k -L -J -t "$topic") || return 1
  check "[1,2,3]" "$(python3 -c 'import json,sys; print(sorted(b["id"] for b in json.load(sys.stdin)["brokers"]), end="")' <<< "$all" | tr -d ' ')" brokers || return 1
  check 12 "$(grep -o '"partition":[0-9]*' <<< "$all" | wc -l)" partitions || return 1
  all=$(k -L -t "$topic") || return 1
  check 1 "$(grep -c '^ 3 brokers:$' <<< "$all")" "line of brokers" || return 1
  check 12 "$(grep -c '^    partition [0-9]*, leader [123], replicas: [123],[123],[123], isrs: [123],[123],[123]$' <<< "$all")" "lines of partitions" || return 1
  check 1 "$(k -L -t no-such-topic | grep -c 'topic "no-such-topic" with 0 partitions: Broker: Unknown topic or partition')" "unknown topic"
}

# partition, then options of the producer
round_trip() {
  local partition=$1
  shift
  seq -f "line of $partition %.0f" 1000 > "$work/in"
  # As parts_of of conformance.py: none but acks=0 needs it, none minds.
  head -1 "$work/in" | k -P -t "$topic" -p "$partition" || return 1
  tail -n +2 "$work/in" > "$work/rest"
  k -P -t "$topic" -p "$partition" "$@" -l "$work/rest" || return 1
  k -C -t "$topic" -p "$partition" -o beginning -c 1000 -q > "$work/out" || return 1
  check "$(cat "$work/in")" "$(cat "$work/out")" "lines of partition $partition"
}

codecs() {
  local partition=4 codec
  for codec in none gzip snappy lz4 zstd; do
    round_trip "$partition" -z "$codec" || return 1
    partition=$((partition + 1))
  done
}

records() {
  printf 'key:value\n' | k -P -t "$topic" -p 9 -K : -H a=1 -H b || return 1
  printf 'tombstone:\n' | k -P -t "$topic" -p 9 -K : -Z || return 1
  check "0 key value a=1,b=NULL 5|1 tombstone   -1|" \
    "$(k -C -t "$topic" -p 9 -o beginning -c 2 -q -f '%o %k %s %h %S|')" records
}

assigned() {
  seq 0 49 | k -P -t "$topic" -p 10 || return 1
  check "$(seq 30 49)" "$(k -C -t "$topic" -p 10 -o 30 -e -q)" "from offset 30" || return 1
  check "$(seq 45 49)" "$(k -C -t "$topic" -p 10 -o -5 -e -q)" "the last five" || return 1
  check "" "$(k -C -t "$topic" -p 10 -o end -e -q)" "the end"
}

offsets() {
  seq 50 | k -P -t "$topic" -p 11 || return 1
  check "$topic [11] offset 50" "$(k -Q -t "$topic:11:-1")" latest || return 1
  check "$topic [11] offset 0" "$(k -Q -t "$topic:11:-2")" earliest || return 1
  check "$topic [11] offset 0" "$(k -Q -t "$topic:11:1")" "of time 1"
}

group() {
  local p
  for p in 0 1; do seq "${p}00" "${p}49" | k -P -t "$prefix-grouped" -p "$p" || return 1; done
  check "$({ seq 000 049; seq 100 149; } | sort)" "$(k -G "$prefix-group" -o beginning -c 100 -X auto.offset.reset=earliest -q "$prefix-grouped" | sort)" "a group" || return 1
  echo after | k -P -t "$prefix-grouped" -p 0 || return 1
  check after "$(k -G "$prefix-group" -c 1 -X auto.offset.reset=earliest -q "$prefix-grouped")" "the group's second member"
}

op metadata metadata
op "produce acks=0" round_trip 0 -X acks=0
op "produce acks=1" round_trip 1 -X acks=1
op "produce acks=all" round_trip 2 -X acks=all
op "produce idempotent" round_trip 3 -X enable.idempotence=true
op codecs codecs
op "whole records" records
op assign assigned
op "list offsets" offsets
op group group
exit "$failed"
