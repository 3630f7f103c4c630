# Sourced by scripts/dev: unmodified Apache Kafka from Maven Central, in a cache outside the tree.

KAFKA_PACKAGES=(default-jdk-headless maven)
# What --sut kafka means without a version (harness/kafka/distribution.h says the same).
KAFKA_VERSION=4.3.1

kafka_directory() { echo "${XDG_CACHE_HOME:-$HOME/.cache}/highwater/kafka-$1"; }

# In the order that harness/kafka_distribution.cc has them: an archive of classes is bound to it.
kafka_class_path() { (export LC_ALL=C; cd "$1" && printf '%s\n' "$PWD"/*.jar | sort | paste -sd:); }

kafka_ready() { [ -e "$(kafka_directory "$1")/complete" ]; }

# One broker is started and ended, and what it has loaded is archived: later starts take half the time.
archive_kafka_classes() {
  local directory=$1 work log pid status=0 address
  work=$(mktemp -d)
  log=$work/log
  address=127.255.$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1))  # so that its ports are surely free
  cat > "$work/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@$address:19094
controller.listener.names=CONTROLLER
listeners=CLIENT://$address:19092,CONTROLLER://$address:19094
inter.broker.listener.name=CLIENT
listener.security.protocol.map=CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=$work/data
log.cleaner.dedupe.buffer.size=4194304
PROPERTIES
  cat > "$work/log4j2.properties" <<PROPERTIES
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %m%n
PROPERTIES
  local java=(java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData
    "-Dlog4j2.configurationFile=$work/log4j2.properties" -cp "$(kafka_class_path "$directory")")
  "${java[@]}" kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAQ -c "$work/server.properties" > "$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
  "${java[@]}" -XX:ArchiveClassesAtExit="$directory/classes.jsa.new" kafka.Kafka "$work/server.properties" >> "$log" 2>&1 &
  pid=$!
  for _ in $(seq 600); do
    grep -q 'Kafka Server started' "$log" && break
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.1
  done
  kill -TERM "$pid" 2> /dev/null || true
  wait "$pid" || status=$?
  # 143: ended by SIGTERM, as asked.
  if [ "$status" -ne 143 ] || [ ! -s "$directory/classes.jsa.new" ]; then
    tail -20 "$log" >&2
    return 1
  fi
  mv "$directory/classes.jsa.new" "$directory/classes.jsa"
  rm -rf "$work"
}

# Data directories of a controller and of a broker, as Kafka's own tool formats them: copied at every start of a
# cluster (harness/kafka/cluster.cc), which saves a JVM for each node.
format_kafka() {
  local directory=$1 role work
  work=$(mktemp -d)
  for role in controller broker; do
    {
      echo "process.roles=$role"
      echo "controller.listener.names=CONTROLLER"
      echo "listener.security.protocol.map=CONTROLLER:PLAINTEXT,CLIENT:PLAINTEXT"
      echo "controller.quorum.voters=100@127.0.0.1:19094"
      echo "log.dirs=$directory/format/$role"
      if [ "$role" = controller ]; then
        printf '%s\n' node.id=100 listeners=CONTROLLER://127.0.0.1:19094
      else
        printf '%s\n' node.id=1 listeners=CLIENT://127.0.0.1:19092 inter.broker.listener.name=CLIENT
      fi
    } > "$work/$role.properties"
    java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -cp "$(kafka_class_path "$directory")" \
      kafka.tools.StorageTool format -t aGlnaHdhdGVyIHRlc3RzIQ -c "$work/$role.properties" > "$work/log" 2>&1 || {
      cat "$work/log" >&2
      return 1
    }
  done
  rm -rf "$work"
}

# Fetches what is missing of a version; silent and quick if nothing is.
fetch_kafka() {
  local version=${1:-$KAFKA_VERSION} directory
  directory=$(kafka_directory "$version")
  kafka_ready "$version" && return 0
  install_packages "${KAFKA_PACKAGES[@]}"
  echo "setup: Apache Kafka $version into $directory" >&2
  rm -rf "$directory.new"
  mvn -q -B -f harness/kafka/pom.xml "-Dkafka.version=$version" -Dstyle.color=never dependency:copy-dependencies \
    -DincludeScope=runtime "-DoutputDirectory=$directory.new" >&2 || {
    echo "scripts/dev kafka: Maven could not fetch Apache Kafka $version" >&2
    rm -rf "$directory.new"
    return 1
  }
  rm -rf "$directory"
  mv "$directory.new" "$directory"
  archive_kafka_classes "$directory" || {
    echo "scripts/dev kafka: Apache Kafka $version did not start and end" >&2
    return 1
  }
  format_kafka "$directory" || return 1
  touch "$directory/complete"
}
