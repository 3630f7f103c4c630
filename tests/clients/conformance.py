"""What an application sees through confluent-kafka (librdkafka), unchanged, on a running cluster.

usage: conformance.py SCENARIO BOOTSTRAP. Exits 0, or 1 with what was not as expected. No group APIs.
"""
import sys
import time

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic)

DEADLINE_S = 30


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def eventually(condition, what):
    end = time.monotonic() + DEADLINE_S
    while not condition():
        check(time.monotonic() < end, f"not within {DEADLINE_S} s: {what}")
        time.sleep(0.05)


class Cluster:
    def __init__(self, bootstrap):
        self.bootstrap = bootstrap
        self.admin = AdminClient({"bootstrap.servers": bootstrap})

    def create(self, name, partitions=1, **config):
        config = {key.replace("_", "."): value for key, value in config.items()}
        created = self.admin.create_topics([NewTopic(name, partitions, 3, config=config)])
        created[name].result(DEADLINE_S)
        eventually(lambda: all(p.leader > 0 for p in self.partitions(name)) and self.partitions(name),
                   f"leaders of {name}")

    def partitions(self, name):
        topic = self.admin.list_topics(name, timeout=DEADLINE_S).topics[name]
        return [] if topic.error else list(topic.partitions.values())

    def producer(self, **config):
        config = {key.replace("_", "."): value for key, value in config.items()}
        return Producer({"bootstrap.servers": self.bootstrap, "message.timeout.ms": 20000, **config})

    def produce(self, topic, values, **config):
        """Offsets as the delivery reports tell them."""
        offsets, errors = [], []

        def delivered(error, message):
            errors.append(error) if error else offsets.append(message.offset())

        producer = self.producer(**config)
        for value in values:
            producer.produce(topic, value, partition=0, on_delivery=delivered)
        left = producer.flush(DEADLINE_S)
        check(left == 0 and not errors, f"{left} not delivered, errors {errors[:3]}")
        return offsets

    def consumer(self):
        # A group id must be given, but nothing is joined or committed.
        return Consumer({"bootstrap.servers": self.bootstrap, "group.id": "none", "enable.auto.commit": False,
                         "check.crcs": True, "isolation.level": "read_uncommitted",
                         "topic.metadata.refresh.interval.ms": 1000})

    def consume(self, topic, count, offset=OFFSET_BEGINNING):
        consumer = self.consumer()
        consumer.assign([TopicPartition(topic, 0, offset)])
        messages = []
        end = time.monotonic() + DEADLINE_S
        while len(messages) < count and time.monotonic() < end:
            message = consumer.poll(0.2)
            if message is None:
                continue
            check(message.error() is None, f"poll: {message.error()}")
            messages.append(message)
        consumer.close()
        check(len(messages) == count, f"{len(messages)} of {count} records of {topic}")
        return messages


def values_of(prefix, count):
    return [f"{prefix}-{i}".encode() for i in range(count)]


def metadata(cluster):
    cluster.create("listed", partitions=3)
    listed = cluster.admin.list_topics(timeout=DEADLINE_S)
    check(sorted(listed.brokers) == [1, 2, 3], f"brokers {sorted(listed.brokers)}")
    check(listed.cluster_id, "no cluster id")
    partitions = cluster.partitions("listed")
    check([p.id for p in partitions] == [0, 1, 2], f"partitions {partitions}")
    for partition in partitions:
        check(sorted(partition.replicas) == [1, 2, 3], f"replicas {partition.replicas}")
        eventually(lambda: sorted(cluster.partitions("listed")[partition.id].isrs) == [1, 2, 3], "ISR of three")
    unknown = cluster.admin.list_topics("no-such-topic", timeout=DEADLINE_S).topics["no-such-topic"]
    check(unknown.error is not None and unknown.error.name() == "UNKNOWN_TOPIC_OR_PART", f"{unknown.error}")


def acks(cluster):
    for level in ("0", "1", "all"):
        topic = f"acks-{level}"
        cluster.create(topic)
        values = values_of(level, 200)
        offsets = cluster.produce(topic, values, acks=level, retries=0)
        if level != "0":
            check(offsets == list(range(200)), f"acks={level}: offsets {offsets[:5]}…")
        read = cluster.consume(topic, 200)
        check([m.value() for m in read] == values, f"acks={level}: other values")
        check([m.offset() for m in read] == list(range(200)), f"acks={level}: other offsets")


def codecs(cluster):
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        topic = f"codec-{codec}"
        cluster.create(topic)
        values = [b"the same words again and again " * 20 + str(i).encode() for i in range(500)]
        cluster.produce(topic, values, acks="all", compression_type=codec, linger_ms=50)
        read = cluster.consume(topic, 500)
        check([m.value() for m in read] == values, f"{codec}: other values")


def watermarks(cluster):
    cluster.create("marks")
    cluster.produce("marks", values_of("w", 50), acks="all")
    consumer = cluster.consumer()
    partition = TopicPartition("marks", 0)
    check(consumer.get_watermark_offsets(partition, timeout=DEADLINE_S) == (0, 50), "watermarks of 50 records")
    by_time = consumer.offsets_for_times([TopicPartition("marks", 0, 0)], timeout=DEADLINE_S)
    check(by_time[0].error is None and by_time[0].offset == 0, f"offset of time 0: {by_time}")
    consumer.close()
    middle = cluster.consume("marks", 20, offset=30)
    check([m.value() for m in middle] == values_of("w", 50)[30:], "records from offset 30")
    tail = cluster.consumer()
    tail.assign([TopicPartition("marks", 0, 50)])
    check(tail.poll(0.3) is None, "something at the end of the log")
    cluster.produce("marks", [b"late"], acks="all")
    late = tail.poll(DEADLINE_S)
    check(late is not None and late.value() == b"late" and late.offset() == 50, f"{late}")
    tail.close()


def keys_and_headers(cluster):
    cluster.create("whole-records")
    producer = cluster.producer(acks="all")
    producer.produce("whole-records", b"value", b"key", 0, headers=[("a", b"1"), ("b", None)], timestamp=1234567)
    producer.produce("whole-records", None, b"tombstone", 0)
    check(producer.flush(DEADLINE_S) == 0, "not delivered")
    first, second = cluster.consume("whole-records", 2)
    check((first.key(), first.value(), first.headers()) == (b"key", b"value", [("a", b"1"), ("b", None)]), "first")
    check(first.timestamp()[1] == 1234567, f"{first.timestamp()}")
    check((second.key(), second.value()) == (b"tombstone", None), "second")


def idempotent(cluster):
    cluster.create("once", min_insync_replicas="2")
    values = values_of("once", 1000)
    offsets = cluster.produce("once", values, enable_idempotence="true", linger_ms=5)
    check(offsets == list(range(1000)), "offsets are not in order")
    check([m.value() for m in cluster.consume("once", 1000)] == values, "other values")


def topics(cluster):
    cluster.create("short-lived", partitions=2)
    again = cluster.admin.create_topics([NewTopic("short-lived", 1, 3)])
    try:
        again["short-lived"].result(DEADLINE_S)
        raise AssertionError("created twice")
    except KafkaException as error:
        check(error.args[0].name() == "TOPIC_ALREADY_EXISTS", f"{error}")
    cluster.produce("short-lived", values_of("x", 10), acks="all")
    cluster.admin.delete_topics(["short-lived"])["short-lived"].result(DEADLINE_S)
    eventually(lambda: "short-lived" not in cluster.admin.list_topics(timeout=DEADLINE_S).topics, "deletion")
    gone = cluster.admin.delete_topics(["short-lived"])
    try:
        gone["short-lived"].result(DEADLINE_S)
        raise AssertionError("deleted twice")
    except KafkaException as error:
        check(error.args[0].name() == "UNKNOWN_TOPIC_OR_PART", f"{error}")


def configs(cluster):
    cluster.create("configured", min_insync_replicas="2")
    resource = ConfigResource(ConfigResource.Type.TOPIC, "configured")

    def described():
        entries = cluster.admin.describe_configs([resource])[resource].result(DEADLINE_S)
        return {name: entry.value for name, entry in entries.items()}

    check(described()["min.insync.replicas"] == "2", f"{described()}")
    change = ConfigResource(ConfigResource.Type.TOPIC, "configured", incremental_configs=[
        ConfigEntry("min.insync.replicas", "1", incremental_operation=AlterConfigOpType.SET)])
    cluster.admin.incremental_alter_configs([change])[change].result(DEADLINE_S)
    eventually(lambda: described()["min.insync.replicas"] == "1", "the new min.insync.replicas")
    wrong = ConfigResource(ConfigResource.Type.TOPIC, "configured", incremental_configs=[
        ConfigEntry("min.insync.replicas", "none", incremental_operation=AlterConfigOpType.SET)])
    try:
        cluster.admin.incremental_alter_configs([wrong])[wrong].result(DEADLINE_S)
        raise AssertionError("a value that is no number was taken")
    except KafkaException as error:
        check(error.args[0].name() == "INVALID_CONFIG", f"{error}")
    check(described()["min.insync.replicas"] == "1", f"{described()}")


SCENARIOS = {f.__name__: f for f in
             (metadata, acks, codecs, watermarks, keys_and_headers, idempotent, topics, configs)}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in SCENARIOS:
        sys.exit(f"usage: conformance.py {'|'.join(SCENARIOS)} BOOTSTRAP")
    try:
        SCENARIOS[sys.argv[1]](Cluster(sys.argv[2]))
    except (AssertionError, KafkaException) as problem:
        sys.exit(f"{sys.argv[1]}: {problem}")
