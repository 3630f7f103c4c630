"""confluent-kafka: librdkafka as its newest wheel bundles it. See conformance.py."""
import time

from confluent_kafka import (OFFSET_BEGINNING, Consumer, ConsumerGroupTopicPartitions, KafkaException,
                             Producer, TopicPartition)
from confluent_kafka.admin import (AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic)

from conformance import DEADLINE_S, Survival, check, eventually, parts_of, refused, run, values_of


CLIENT_ID = "confluent-kafka"


def code(error):
    return error.args[0].name() if error.args and hasattr(error.args[0], "name") else ""


class Cluster:
    def __init__(self, bootstrap, prefix):
        self.bootstrap = ",".join(bootstrap)
        self.prefix = prefix
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap, "client.id": CLIENT_ID})

    def close(self):
        pass

    def name(self, topic):
        return f"{self.prefix}-{topic}"

    def create(self, topic, partitions=1, **config):
        config = {key.replace("_", "."): value for key, value in config.items()}
        name = self.name(topic)
        self.admin.create_topics([NewTopic(name, partitions, 3, config=config)])[name].result(DEADLINE_S)
        eventually(lambda: self.partitions(name) and all(p.leader > 0 for p in self.partitions(name)),
                   f"leaders of {name}")
        return name

    def partitions(self, name):
        topic = self.admin.list_topics(name, timeout=DEADLINE_S).topics[name]
        return [] if topic.error else list(topic.partitions.values())

    def producer(self, **config):
        config = {key.replace("_", "."): value for key, value in config.items()}
        # One request at a time: or a batch that is sent again, for a leader that does not know the topic yet, comes
        # after later ones.
        return Producer({"bootstrap.servers": self.bootstrap, "client.id": CLIENT_ID,
                         "max.in.flight.requests.per.connection": 1,
                         "message.timeout.ms": 20000, **config})

    def produce(self, topic, values, partition=0, **config):
        """Offsets as the delivery reports tell them."""
        offsets, errors = [], []

        def delivered(error, message):
            errors.append(error) if error else offsets.append(message.offset())

        producer = self.producer(**config)
        for value in values:
            producer.produce(topic, value, partition=partition, on_delivery=delivered)
        left = producer.flush(DEADLINE_S)
        check(left == 0 and not errors, f"{left} not delivered, errors {errors[:3]}")
        return offsets

    def consumer(self, **config):
        # A group id must be given, but with assign() nothing is joined or committed.
        config = {key.replace("_", "."): value for key, value in config.items()}
        return Consumer({"bootstrap.servers": self.bootstrap, "client.id": CLIENT_ID, "group.id": "none", "enable.auto.commit": False,
                         "check.crcs": True, "isolation.level": "read_uncommitted",
                         "topic.metadata.refresh.interval.ms": 1000, **config})

    def take(self, consumer, count):
        messages = []
        end = time.monotonic() + DEADLINE_S
        while len(messages) < count:
            check(time.monotonic() < end, f"{len(messages)} of {count} records within {DEADLINE_S} s")
            message = consumer.poll(0.1)
            if message is not None:
                check(message.error() is None, f"poll: {message.error()}")
                messages.append(message)
        return messages

    def consume(self, topic, count, offset=OFFSET_BEGINNING):
        consumer = self.consumer()
        consumer.assign([TopicPartition(topic, 0, offset)])
        messages = self.take(consumer, count)
        consumer.close()
        return messages


def metadata(cluster):
    listed = cluster.admin.list_topics(timeout=DEADLINE_S)
    check(sorted(listed.brokers) == [1, 2, 3], f"brokers {sorted(listed.brokers)}")
    check(listed.cluster_id, "no cluster id")
    described = cluster.admin.describe_cluster().result(DEADLINE_S)
    check(sorted(node.id for node in described.nodes) == [1, 2, 3], f"nodes {described.nodes}")
    check(described.controller.id in (1, 2, 3), f"controller {described.controller}")
    name = cluster.create("listed", partitions=3)
    found = []

    # Another broker may answer than the one that knew the topic first.
    def full():
        nonlocal found
        found = cluster.partitions(name)
        return len(found) == 3 and all(sorted(p.isrs) == [1, 2, 3] for p in found)

    eventually(full, "three partitions with an ISR of three")
    check([p.id for p in found] == [0, 1, 2], f"{found}")
    check(all(sorted(p.replicas) == [1, 2, 3] for p in found), f"{found}")
    check(all(p.leader == p.replicas[0] for p in found), f"{found}")
    unknown = cluster.admin.list_topics("no-such-topic", timeout=DEADLINE_S).topics["no-such-topic"]
    check(unknown.error is not None and unknown.error.name() == "UNKNOWN_TOPIC_OR_PART", f"{unknown.error}")


def topics(cluster):
    name = cluster.create("short-lived", partitions=2)
    refused("TOPIC_ALREADY_EXISTS",
            lambda: cluster.admin.create_topics([NewTopic(name, 1, 3)])[name].result(DEADLINE_S), code)
    refused("INVALID_REPLICATION_FACTOR",
            lambda: cluster.admin.create_topics([NewTopic("x", 1, 4)])["x"].result(DEADLINE_S), code)
    cluster.produce(name, values_of("x", 10), acks="all")
    cluster.admin.delete_topics([name])[name].result(DEADLINE_S)
    eventually(lambda: name not in cluster.admin.list_topics(timeout=DEADLINE_S).topics, "deletion")
    refused("UNKNOWN_TOPIC_OR_PART", lambda: cluster.admin.delete_topics([name])[name].result(DEADLINE_S), code)


def produce_with(level):
    def operation(cluster):
        name = cluster.create(f"acks-{level}")
        values = values_of(level, 200)
        first, rest = parts_of(values, level)
        cluster.produce(name, first, acks="all")
        offsets = cluster.produce(name, rest, acks=level, retries=0)
        if level != "0":
            check(offsets == list(range(200)), f"acks={level}: offsets {offsets[:5]}…")
        read = cluster.consume(name, 200)
        check([m.value() for m in read] == values, f"acks={level}: other values")
        check([m.offset() for m in read] == list(range(200)), f"acks={level}: other offsets")
    return operation


def idempotent(cluster):
    name = cluster.create("once", min_insync_replicas="2")
    values = values_of("once", 1000)
    offsets = cluster.produce(name, values, enable_idempotence="true", linger_ms=5)
    check(offsets == list(range(1000)), "offsets are not in order")
    check([m.value() for m in cluster.consume(name, 1000)] == values, "other values")


def codecs(cluster):
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        name = cluster.create(f"codec-{codec}")
        values = [b"the same words again and again " * 20 + str(i).encode() for i in range(500)]
        cluster.produce(name, values, acks="all", compression_type=codec, linger_ms=50)
        check([m.value() for m in cluster.consume(name, 500)] == values, f"{codec}: other values")


def records(cluster):
    name = cluster.create("whole-records")
    producer = cluster.producer(acks="all")
    producer.produce(name, b"value", b"key", 0, headers=[("a", b"1"), ("b", None)], timestamp=1234567)
    producer.produce(name, None, b"tombstone", 0)
    check(producer.flush(DEADLINE_S) == 0, "not delivered")
    first, second = cluster.consume(name, 2)
    check((first.key(), first.value(), first.headers()) == (b"key", b"value", [("a", b"1"), ("b", None)]), "first")
    check(first.timestamp()[1] == 1234567, f"{first.timestamp()}")
    check((second.key(), second.value()) == (b"tombstone", None), "second")


def assign(cluster):
    name = cluster.create("marks")
    cluster.produce(name, values_of("w", 50), acks="all")
    middle = cluster.consume(name, 20, offset=30)
    check([m.value() for m in middle] == values_of("w", 50)[30:], "records from offset 30")
    tail = cluster.consumer()
    tail.assign([TopicPartition(name, 0, 50)])
    check(tail.poll(0.3) is None, "something at the end of the log")
    cluster.produce(name, [b"late"], acks="all")
    late = tail.poll(DEADLINE_S)
    check(late is not None and late.value() == b"late" and late.offset() == 50, f"{late}")
    tail.close()
    lost = cluster.consumer(auto_offset_reset="error")
    lost.assign([TopicPartition(name, 0, 1000)])
    answer = lost.poll(DEADLINE_S)
    check(answer is not None and answer.error() is not None and answer.error().name() == "_AUTO_OFFSET_RESET",
          f"beyond the end: {answer and answer.error()}")
    lost.close()


def list_offsets(cluster):
    name = cluster.create("offsets")
    cluster.produce(name, values_of("o", 50), acks="all")
    consumer = cluster.consumer()
    partition = TopicPartition(name, 0)
    check(consumer.get_watermark_offsets(partition, timeout=DEADLINE_S) == (0, 50), "watermarks of 50 records")
    by_time = consumer.offsets_for_times([TopicPartition(name, 0, 0)], timeout=DEADLINE_S)
    check(by_time[0].error is None and by_time[0].offset == 0, f"offset of time 0: {by_time}")
    later = consumer.offsets_for_times([TopicPartition(name, 0, 1 << 50)], timeout=DEADLINE_S)
    check(later[0].error is None and later[0].offset == -1, f"offset of a later time: {later}")
    consumer.close()


def configs(cluster):
    name = cluster.create("configured", min_insync_replicas="2")
    resource = ConfigResource(ConfigResource.Type.TOPIC, name)

    def described():
        try:
            entries = cluster.admin.describe_configs([resource])[resource].result(DEADLINE_S)
        except KafkaException as error:
            check(code(error) == "UNKNOWN_TOPIC_OR_PART", f"{error}")
            return {}
        return {key: entry.value for key, entry in entries.items()}

    def alter(value):
        change = ConfigResource(ConfigResource.Type.TOPIC, name, incremental_configs=[
            ConfigEntry("min.insync.replicas", value, incremental_operation=AlterConfigOpType.SET)])
        cluster.admin.incremental_alter_configs([change])[change].result(DEADLINE_S)

    # Another broker may answer than the one that knew the topic first.
    eventually(lambda: described().get("min.insync.replicas") == "2", "min.insync.replicas")
    alter("1")
    eventually(lambda: described()["min.insync.replicas"] == "1", "the new min.insync.replicas")
    refused("INVALID_CONFIG", lambda: alter("none"), code)
    check(described()["min.insync.replicas"] == "1", f"{described()}")


def group(cluster):
    name = cluster.create("grouped", partitions=2)
    for partition in (0, 1):
        cluster.produce(name, values_of(f"g{partition}", 50), partition=partition, acks="all")
    group_id = cluster.name("group")
    config = {"group_id": group_id, "auto_offset_reset": "earliest"}
    first = cluster.consumer(**config)
    first.subscribe([name])
    read = cluster.take(first, 100)
    for partition in (0, 1):
        check([m.value() for m in read if m.partition() == partition] == values_of(f"g{partition}", 50), "other values")
    check(len(first.assignment()) == 2, f"{first.assignment()}")
    committed = first.commit(asynchronous=False)
    check(sorted((p.partition, p.offset) for p in committed) == [(0, 50), (1, 50)], f"{committed}")
    first.close()
    cluster.produce(name, [b"after"], acks="all")
    second = cluster.consumer(**config)
    second.subscribe([name])
    again = cluster.take(second, 1)
    check([(m.value(), m.offset()) for m in again] == [(b"after", 50)], f"{[m.value() for m in again]}")
    second.close()


def group_admin(cluster):
    group_id = cluster.name("group")
    listed = cluster.admin.list_consumer_groups().result(DEADLINE_S)
    check(group_id in [g.group_id for g in listed.valid] and not listed.errors, f"{listed.valid} {listed.errors}")
    described = cluster.admin.describe_consumer_groups([group_id])[group_id].result(DEADLINE_S)
    check(described.state.name == "EMPTY" and not described.members, f"{described.state} {described.members}")
    asked = ConsumerGroupTopicPartitions(group_id)
    offsets = cluster.admin.list_consumer_group_offsets([asked])[group_id].result(DEADLINE_S).topic_partitions
    check(sorted((p.partition, p.offset) for p in offsets) == [(0, 50), (1, 50)], f"{offsets}")
    cluster.admin.delete_consumer_groups([group_id])[group_id].result(DEADLINE_S)
    listed = cluster.admin.list_consumer_groups().result(DEADLINE_S)
    check(group_id not in [g.group_id for g in listed.valid], "the deleted group is listed")


def rebalance(cluster):
    name = cluster.create("shared", partitions=2)
    group_id = cluster.name("two-members")
    config = {"group_id": group_id, "auto_offset_reset": "earliest", "heartbeat_interval_ms": "200",
              "session_timeout_ms": "6000"}
    one, two = cluster.consumer(**config), cluster.consumer(**config)

    def assigned(consumer):
        consumer.poll(0.05)
        return sorted(p.partition for p in consumer.assignment())

    one.subscribe([name])
    eventually(lambda: assigned(one) == [0, 1], "both partitions for the first member")
    two.subscribe([name])
    # Both must poll, or the rebalance waits for the one that does not.
    eventually(lambda: [len(a) for a in (assigned(one), assigned(two))] == [1, 1], "one partition for each member")
    check(sorted(assigned(one) + assigned(two)) == [0, 1], "a partition belongs to both or none")
    two.close()
    eventually(lambda: assigned(one) == [0, 1], "both partitions for the one that stays")
    one.close()


def survive(cluster):
    name = cluster.create("survivor", min_insync_replicas="2")
    survival = Survival(name)

    def delivered(error, message):
        check(error is None, f"{error}")
        survival.acknowledge(message.value())

    producer = cluster.producer(enable_idempotence="true", message_timeout_ms=60000, socket_timeout_ms=3000,
                                request_timeout_ms=2000, topic_metadata_refresh_interval_ms=1000)
    number = 0
    while survival.more():
        producer.produce(name, str(number).encode(), partition=0, on_delivery=delivered)
        number += 1
        producer.poll(0.01)
    check(producer.flush(2 * DEADLINE_S) == 0, "not delivered")
    survival.judge([m.value() for m in cluster.consume(name, number)])


run({"metadata": metadata, "topics": topics, "produce acks=0": produce_with("0"),
     "produce acks=1": produce_with("1"), "produce acks=all": produce_with("all"),
     "produce idempotent": idempotent, "codecs": codecs, "whole records": records, "assign": assign,
     "list offsets": list_offsets, "configs": configs, "group": group, "group admin": group_admin,
     "rebalance": rebalance, "survive a kill": survive}, Cluster)
