"""kafka-python: a client written in Python alone. See conformance.py."""
import threading
import time

from kafka import ConsumerRebalanceListener, KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import UnknownTopicOrPartitionError

from conformance import DEADLINE_S, Survival, check, eventually, parts_of, refused, run, values_of


CLIENT_ID = "kafka-python"


def code(error):
    return getattr(error, "message", "") or type(error).__name__


class Cluster:
    def __init__(self, bootstrap, prefix):
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.admin = KafkaAdminClient(bootstrap_servers=bootstrap, client_id=CLIENT_ID)

    def close(self):
        self.admin.close()

    def name(self, topic):
        return f"{self.prefix}-{topic}"

    def create(self, topic, partitions=1, **config):
        config = {key.replace("_", "."): value for key, value in config.items()}
        name = self.name(topic)
        self.admin.create_topics({name: {"num_partitions": partitions, "replication_factor": 3, "configs": config}},
                                 wait_for_metadata=True)
        return name

    def producer(self, **config):
        config.setdefault("enable_idempotence", False)
        # Or a batch that is sent again, for a leader that does not know the topic yet, comes after later ones.
        config.setdefault("max_in_flight_requests_per_connection", 1)
        return KafkaProducer(bootstrap_servers=self.bootstrap, client_id=CLIENT_ID, **config)

    def produce(self, topic, values, partition=0, **config):
        producer = self.producer(**config)
        sent = [producer.send(topic, value, partition=partition) for value in values]
        offsets = [future.get(DEADLINE_S).offset for future in sent]
        producer.close()
        return offsets

    def consumer(self, *topics, **config):
        # The latest offsets commit of a closing consumer is not what is asked here.
        return KafkaConsumer(*topics, bootstrap_servers=self.bootstrap, client_id=CLIENT_ID, enable_auto_commit=False,
                             check_crcs=True, metadata_max_age_ms=1000, **config)

    def take(self, consumer, count):
        records = []
        end = time.monotonic() + DEADLINE_S
        while len(records) < count:
            check(time.monotonic() < end, f"{len(records)} of {count} records within {DEADLINE_S} s")
            # A poll that ends while the member joins its group may lose what it was assigned.
            for batch in consumer.poll(timeout_ms=10000).values():
                records += batch
        return records

    def consume(self, topic, count, offset=0):
        consumer = self.consumer()
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek(partition, offset)
        records = self.take(consumer, count)
        consumer.close()
        return records


def metadata(cluster):
    described = cluster.admin.describe_cluster()
    check(sorted(broker["broker_id"] for broker in described["brokers"]) == [1, 2, 3], f"{described}")
    check(described["cluster_id"], "no cluster id")
    name = cluster.create("listed", partitions=3)
    eventually(lambda: name in cluster.admin.list_topics(), "the topic in the list")

    found = []

    # Another broker may answer than the one that knew the topic first.
    def full():
        nonlocal found
        found = sorted(cluster.admin.describe_topics([name])[0]["partitions"], key=lambda p: p["partition_index"])
        return len(found) == 3 and all(sorted(p["isr_nodes"]) == [1, 2, 3] for p in found)

    eventually(full, "three partitions with an ISR of three")
    check([p["partition_index"] for p in found] == [0, 1, 2], f"{found}")
    check(all(sorted(p["replica_nodes"]) == [1, 2, 3] for p in found), f"{found}")
    check(all(p["leader_id"] == p["replica_nodes"][0] for p in found), f"{found}")


def topics(cluster):
    name = cluster.create("short-lived", partitions=2)
    again = {name: {"num_partitions": 1, "replication_factor": 3}}
    refused("TOPIC_ALREADY_EXISTS", lambda: cluster.admin.create_topics(again), code)
    too_many = {"x": {"num_partitions": 1, "replication_factor": 4}}
    refused("INVALID_REPLICATION_FACTOR", lambda: cluster.admin.create_topics(too_many), code)
    cluster.produce(name, values_of("x", 10), acks="all")
    cluster.admin.delete_topics([name])
    eventually(lambda: name not in cluster.admin.list_topics(), "deletion")
    refused("UNKNOWN_TOPIC_OR_PARTITION", lambda: cluster.admin.delete_topics([name]), code)


def produce_with(level):
    def operation(cluster):
        name = cluster.create(f"acks-{level}")
        values = values_of(level, 200)
        first, rest = parts_of(values, level)
        cluster.produce(name, first, acks="all")
        offsets = cluster.produce(name, rest, acks=level, retries=0)
        if level != 0:
            check(offsets == list(range(200)), f"acks={level}: offsets {offsets[:5]}…")
        read = cluster.consume(name, 200)
        check([r.value for r in read] == values, f"acks={level}: other values")
        check([r.offset for r in read] == list(range(200)), f"acks={level}: other offsets")
    return operation


def idempotent(cluster):
    name = cluster.create("once", min_insync_replicas="2")
    values = values_of("once", 1000)
    offsets = cluster.produce(name, values, enable_idempotence=True, acks="all", linger_ms=5)
    check(offsets == list(range(1000)), "offsets are not in order")
    check([r.value for r in cluster.consume(name, 1000)] == values, "other values")


def codecs(cluster):
    # The others need libraries that do not come with it.
    for codec in (None, "gzip"):
        name = cluster.create(f"codec-{codec}")
        values = [b"the same words again and again " * 20 + str(i).encode() for i in range(500)]
        cluster.produce(name, values, acks="all", compression_type=codec, linger_ms=50)
        check([r.value for r in cluster.consume(name, 500)] == values, f"{codec}: other values")


def records(cluster):
    name = cluster.create("whole-records")
    producer = cluster.producer(acks="all")
    producer.send(name, b"value", b"key", [("a", b"1"), ("b", b"")], 0, 1234567).get(DEADLINE_S)
    producer.send(name, None, b"tombstone", partition=0).get(DEADLINE_S)
    producer.close()
    first, second = cluster.consume(name, 2)
    check((first.key, first.value, list(first.headers)) == (b"key", b"value", [("a", b"1"), ("b", b"")]), f"{first}")
    check(first.timestamp == 1234567, f"{first.timestamp}")
    check((second.key, second.value) == (b"tombstone", None), f"{second}")


def assign(cluster):
    name = cluster.create("marks")
    cluster.produce(name, values_of("w", 50), acks="all")
    middle = cluster.consume(name, 20, offset=30)
    check([r.value for r in middle] == values_of("w", 50)[30:], "records from offset 30")
    tail = cluster.consumer()
    partition = TopicPartition(name, 0)
    tail.assign([partition])
    tail.seek(partition, 50)
    check(not tail.poll(timeout_ms=300), "something at the end of the log")
    cluster.produce(name, [b"late"], acks="all")
    late = cluster.take(tail, 1)
    check([(r.value, r.offset) for r in late] == [(b"late", 50)], f"{late}")
    tail.close()
    lost = cluster.consumer(auto_offset_reset="none")
    lost.assign([partition])
    lost.seek(partition, 1000)

    def beyond():
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            lost.poll(timeout_ms=100)

    refused("OffsetOutOfRangeError", beyond, lambda error: type(error).__name__)
    lost.close()


def list_offsets(cluster):
    name = cluster.create("offsets")
    cluster.produce(name, values_of("o", 50), acks="all")
    consumer = cluster.consumer()
    partition = TopicPartition(name, 0)
    check(consumer.beginning_offsets([partition]) == {partition: 0}, "the beginning")
    check(consumer.end_offsets([partition]) == {partition: 50}, "the end")
    check(consumer.offsets_for_times({partition: 0})[partition].offset == 0, "the offset of time 0")
    check(consumer.offsets_for_times({partition: 1 << 50})[partition] is None, "the offset of a later time")
    consumer.close()


def configs(cluster):
    name = cluster.create("configured", min_insync_replicas="2")

    def described():
        asked = [ConfigResource(ConfigResourceType.TOPIC, name)]
        try:
            answer = cluster.admin.describe_configs(asked, config_filter="all")
        except UnknownTopicOrPartitionError:
            return None
        return next(iter(answer.values()))[name]["min.insync.replicas"]["value"]

    def alter(value):
        asked = [ConfigResource(ConfigResourceType.TOPIC, name, {"min.insync.replicas": value})]
        return str(next(iter(cluster.admin.alter_configs(asked).values()))[name])

    # Another broker may answer than the one that knew the topic first.
    eventually(lambda: described() == "2", "min.insync.replicas")
    answer = alter("1")
    check("Error" not in answer, answer)
    eventually(lambda: described() == "1", "the new min.insync.replicas")
    answer = alter("none")
    check("InvalidConfigurationError" in answer, answer)
    check(described() == "1", f"{described()}")


def group(cluster):
    name = cluster.create("grouped", partitions=2)
    for partition in (0, 1):
        cluster.produce(name, values_of(f"g{partition}", 50), partition=partition, acks="all")
    config = {"group_id": cluster.name("group"), "auto_offset_reset": "earliest"}
    first = cluster.consumer(name, **config)
    read = cluster.take(first, 100)
    for partition in (0, 1):
        check([r.value for r in read if r.partition == partition] == values_of(f"g{partition}", 50), "other values")
    check(len(first.assignment()) == 2, f"{first.assignment()}")
    first.commit()
    committed = [first.committed(TopicPartition(name, partition)) for partition in (0, 1)]
    check(committed == [50, 50], f"{committed}")
    first.close()
    cluster.produce(name, [b"after"], acks="all")
    second = cluster.consumer(name, **config)
    again = cluster.take(second, 1)
    check([(r.value, r.offset) for r in again] == [(b"after", 50)], f"{again}")
    second.close()


def group_admin(cluster):
    group_id = cluster.name("group")

    def listed():
        return [g["group_id"] if isinstance(g, dict) else g.group_id for g in cluster.admin.list_groups()]

    check(group_id in listed(), f"{listed()}")
    described = cluster.admin.describe_groups([group_id])[group_id]
    check(described["group_state"] == "Empty" and not described["members"], f"{described}")
    offsets = cluster.admin.list_group_offsets({group_id: None})[group_id]
    check(sorted((p.partition, o.offset) for p, o in offsets.items()) == [(0, 50), (1, 50)], f"{offsets}")
    cluster.admin.delete_groups([group_id])
    check(group_id not in listed(), "the deleted group is listed")


class Member(threading.Thread, ConsumerRebalanceListener):
    """A consumer that polls until told to stop: what it holds is seen from outside."""

    def __init__(self, cluster, name, group_id):
        super().__init__()
        self.consumer = cluster.consumer(group_id=group_id, heartbeat_interval_ms=200, session_timeout_ms=6000)
        self.consumer.subscribe([name], listener=self)
        self.holds = []
        self.ended = threading.Event()
        self.start()

    def on_partitions_revoked(self, revoked):
        self.holds = []

    def on_partitions_assigned(self, assigned):
        self.holds = sorted(p.partition for p in assigned)

    def run(self):
        while not self.ended.is_set():
            # As in take().
            self.consumer.poll(timeout_ms=1000)
        self.consumer.close()

    def stop(self):
        self.ended.set()
        self.join()


def rebalance(cluster):
    name = cluster.create("shared", partitions=2)
    members = [Member(cluster, name, cluster.name("two-members"))]
    try:
        eventually(lambda: members[0].holds == [0, 1], "both partitions for the first member")
        members.append(Member(cluster, name, cluster.name("two-members")))
        eventually(lambda: sorted(m.holds for m in members) == [[0], [1]], "one partition for each member")
        members.pop().stop()
        eventually(lambda: members[0].holds == [0, 1], "both partitions for the one that stays")
    finally:
        for member in members:
            member.stop()


def survive(cluster):
    survival = Survival(cluster.create("survivor", min_insync_replicas="2"))
    producer = cluster.producer(enable_idempotence=True, acks="all", request_timeout_ms=2000,
                                metadata_max_age_ms=1000)
    number = 0
    while survival.more():
        value = str(number).encode()
        producer.send(survival.topic, value, partition=0).get(2 * DEADLINE_S)
        survival.acknowledge(value)
        number += 1
    producer.close()
    survival.judge([r.value for r in cluster.consume(survival.topic, number)])


run({"metadata": metadata, "topics": topics, "produce acks=0": produce_with(0), "produce acks=1": produce_with(1),
     "produce acks=all": produce_with("all"), "produce idempotent": idempotent, "codecs": codecs,
     "whole records": records, "assign": assign, "list offsets": list_offsets, "configs": configs,
     "group": group, "group admin": group_admin, "rebalance": rebalance, "survive a kill": survive}, Cluster)
