"""aiokafka: a client for asyncio. See conformance.py."""
import asyncio
import sys
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import OffsetOutOfRangeError

from conformance import DEADLINE_S, Survival, check, parts_of, run_async, values_of

CLIENT_ID = "aiokafka"
TOPIC_ALREADY_EXISTS = 36
INVALID_REPLICATION_FACTOR = 38
UNKNOWN_TOPIC_OR_PARTITION = 3


async def eventually(condition, what):
    end = time.monotonic() + DEADLINE_S
    while not await condition():
        check(time.monotonic() < end, f"not within {DEADLINE_S} s: {what}")
        await asyncio.sleep(0.05)


class Cluster:
    def __init__(self, bootstrap, prefix):
        self.bootstrap = bootstrap
        self.prefix = prefix
        self.admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, client_id=CLIENT_ID)

    async def close(self):
        await self.admin.close()

    def name(self, topic):
        return f"{self.prefix}-{topic}"

    async def described(self, name):
        return (await self.admin.describe_topics([name]))[0]

    async def create(self, topic, partitions=1, **config):
        config = {key.replace("_", "."): value for key, value in config.items()}
        name = self.name(topic)
        answer = await self.admin.create_topics([NewTopic(name, partitions, 3, topic_configs=config)])
        check(answer.topic_errors[0][1] == 0, f"{answer}")

        async def led():
            found = (await self.described(name))["partitions"]
            return len(found) == partitions and all(p["leader"] > 0 for p in found)

        await eventually(led, f"leaders of {name}")
        return name

    async def producer(self, **config):
        producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, client_id=CLIENT_ID, **config)
        await producer.start()
        return producer

    async def produce(self, topic, values, partition=0, **config):
        producer = await self.producer(**config)
        sent = [await producer.send(topic, value, partition=partition) for value in values]
        answers = [await asyncio.wait_for(future, DEADLINE_S) for future in sent]
        await producer.stop()
        return [answer.offset for answer in answers if answer is not None]

    async def consumer(self, *topics, **config):
        consumer = AIOKafkaConsumer(*topics, bootstrap_servers=self.bootstrap, client_id=CLIENT_ID,
                                    enable_auto_commit=False, check_crcs=True, metadata_max_age_ms=1000, **config)
        await consumer.start()
        return consumer

    async def take(self, consumer, count):
        records = []
        end = time.monotonic() + DEADLINE_S
        while len(records) < count:
            check(time.monotonic() < end, f"{len(records)} of {count} records within {DEADLINE_S} s")
            for batch in (await consumer.getmany(timeout_ms=200)).values():
                records += batch
        return records

    async def at(self, topic, offset, **config):
        consumer = await self.consumer(**config)
        consumer.assign([TopicPartition(topic, 0)])
        consumer.seek(TopicPartition(topic, 0), offset)
        return consumer

    async def consume(self, topic, count, offset=0):
        consumer = await self.at(topic, offset)
        records = await self.take(consumer, count)
        await consumer.stop()
        return records


async def metadata(cluster):
    described = await cluster.admin.describe_cluster()
    check(sorted(broker["node_id"] for broker in described["brokers"]) == [1, 2, 3], f"{described}")
    name = await cluster.create("listed", partitions=3)
    found = []

    # Another broker may answer than the one that knew the topic first.
    async def full():
        nonlocal found
        found = sorted((await cluster.described(name))["partitions"], key=lambda p: p["partition"])
        listed = name in await cluster.admin.list_topics()
        return listed and len(found) == 3 and all(sorted(p["isr"]) == [1, 2, 3] for p in found)

    await eventually(full, "three partitions with an ISR of three")
    check([p["partition"] for p in found] == [0, 1, 2], f"{found}")
    check(all(sorted(p["replicas"]) == [1, 2, 3] for p in found), f"{found}")
    check(all(p["leader"] == p["replicas"][0] for p in found), f"{found}")


async def topics(cluster):
    name = await cluster.create("short-lived", partitions=2)
    again = await cluster.admin.create_topics([NewTopic(name, 1, 3)])
    check(again.topic_errors[0][1] == TOPIC_ALREADY_EXISTS, f"{again}")
    too_many = await cluster.admin.create_topics([NewTopic("x", 1, 4)])
    check(too_many.topic_errors[0][1] == INVALID_REPLICATION_FACTOR, f"{too_many}")
    await cluster.produce(name, values_of("x", 10), acks="all")
    deleted = await cluster.admin.delete_topics([name])
    check(deleted.topic_error_codes[0][1] == 0, f"{deleted}")

    async def gone():
        return name not in await cluster.admin.list_topics()

    await eventually(gone, "deletion")
    twice = await cluster.admin.delete_topics([name])
    check(twice.topic_error_codes[0][1] == UNKNOWN_TOPIC_OR_PARTITION, f"{twice}")


def produce_with(level):
    async def operation(cluster):
        name = await cluster.create(f"acks-{level}")
        values = values_of(level, 200)
        first, rest = parts_of(values, level)
        await cluster.produce(name, first, acks="all")
        offsets = await cluster.produce(name, rest, acks=level)
        if level != 0:
            check(offsets == list(range(200)), f"acks={level}: offsets {offsets[:5]}…")
        read = await cluster.consume(name, 200)
        check([r.value for r in read] == values, f"acks={level}: other values")
        check([r.offset for r in read] == list(range(200)), f"acks={level}: other offsets")
    return operation


async def idempotent(cluster):
    name = await cluster.create("once", min_insync_replicas="2")
    values = values_of("once", 1000)
    offsets = await cluster.produce(name, values, enable_idempotence=True, linger_ms=5)
    check(offsets == list(range(1000)), "offsets are not in order")
    check([r.value for r in await cluster.consume(name, 1000)] == values, "other values")


async def codecs(cluster):
    # The others need libraries that do not come with it.
    for codec in (None, "gzip"):
        name = await cluster.create(f"codec-{codec}")
        values = [b"the same words again and again " * 20 + str(i).encode() for i in range(500)]
        await cluster.produce(name, values, acks="all", compression_type=codec, linger_ms=50)
        check([r.value for r in await cluster.consume(name, 500)] == values, f"{codec}: other values")


async def records(cluster):
    name = await cluster.create("whole-records")
    producer = await cluster.producer(acks="all")
    await producer.send_and_wait(name, b"value", b"key", 0, 1234567, [("a", b"1"), ("b", b"")])
    await producer.send_and_wait(name, None, b"tombstone", 0)
    await producer.stop()
    first, second = await cluster.consume(name, 2)
    check((first.key, first.value, list(first.headers)) == (b"key", b"value", [("a", b"1"), ("b", b"")]), f"{first}")
    check(first.timestamp == 1234567, f"{first.timestamp}")
    check((second.key, second.value) == (b"tombstone", None), f"{second}")


async def assign(cluster):
    name = await cluster.create("marks")
    await cluster.produce(name, values_of("w", 50), acks="all")
    middle = await cluster.consume(name, 20, offset=30)
    check([r.value for r in middle] == values_of("w", 50)[30:], "records from offset 30")
    tail = await cluster.at(name, 50)
    check(not await tail.getmany(timeout_ms=300), "something at the end of the log")
    await cluster.produce(name, [b"late"], acks="all")
    late = await cluster.take(tail, 1)
    check([(r.value, r.offset) for r in late] == [(b"late", 50)], f"{late}")
    await tail.stop()
    lost = await cluster.at(name, 1000, auto_offset_reset="none")
    try:
        answer = await cluster.take(lost, 1)
        check(False, f"beyond the end: {answer}")
    except OffsetOutOfRangeError:
        pass
    await lost.stop()


async def list_offsets(cluster):
    name = await cluster.create("offsets")
    await cluster.produce(name, values_of("o", 50), acks="all")
    consumer = await cluster.consumer()
    partition = TopicPartition(name, 0)
    check(await consumer.beginning_offsets([partition]) == {partition: 0}, "the beginning")
    check(await consumer.end_offsets([partition]) == {partition: 50}, "the end")
    check((await consumer.offsets_for_times({partition: 0}))[partition].offset == 0, "the offset of time 0")
    check((await consumer.offsets_for_times({partition: 1 << 50}))[partition] is None, "the offset of a later time")
    await consumer.stop()


async def configs(cluster):
    name = await cluster.create("configured", min_insync_replicas="2")

    # Another broker may answer than the one that knew the topic first.
    async def described():
        answers = await cluster.admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, name)])
        found = {entry[0]: entry[1] for answer in answers for resource in answer.resources for entry in resource[4]}
        return found.get("min.insync.replicas") == "2"

    await eventually(described, "min.insync.replicas")


async def group(cluster):
    name = await cluster.create("grouped", partitions=2)
    for partition in (0, 1):
        await cluster.produce(name, values_of(f"g{partition}", 50), partition=partition, acks="all")
    config = {"group_id": cluster.name("group"), "auto_offset_reset": "earliest"}
    first = await cluster.consumer(name, **config)
    read = await cluster.take(first, 100)
    for partition in (0, 1):
        check([r.value for r in read if r.partition == partition] == values_of(f"g{partition}", 50), "other values")
    check(len(first.assignment()) == 2, f"{first.assignment()}")
    await first.commit()
    committed = [await first.committed(TopicPartition(name, partition)) for partition in (0, 1)]
    check(committed == [50, 50], f"{committed}")
    await first.stop()
    await cluster.produce(name, [b"after"], acks="all")
    second = await cluster.consumer(name, **config)
    again = await cluster.take(second, 1)
    check([(r.value, r.offset) for r in again] == [(b"after", 50)], f"{again}")
    await second.stop()


async def group_admin(cluster):
    group_id = cluster.name("group")
    listed = [found[0] for found in await cluster.admin.list_consumer_groups()]
    check(group_id in listed, f"{listed}")
    answer = (await cluster.admin.describe_consumer_groups([group_id]))[0].groups[0]
    check(answer[0] == 0 and answer[2] == "Empty" and not answer[5], f"{answer}")
    offsets = await cluster.admin.list_consumer_group_offsets(group_id)
    check(sorted((p.partition, o.offset) for p, o in offsets.items()) == [(0, 50), (1, 50)], f"{offsets}")


async def rebalance(cluster):
    name = await cluster.create("shared", partitions=2)
    config = {"group_id": cluster.name("two-members"), "heartbeat_interval_ms": 200, "session_timeout_ms": 6000}
    one = await cluster.consumer(name, **config)

    async def both():
        return len(one.assignment()) == 2

    await eventually(both, "both partitions for the first member")
    two = await cluster.consumer(name, **config)

    async def shared():
        held = [sorted(p.partition for p in member.assignment()) for member in (one, two)]
        return sorted(held) == [[0], [1]]

    await eventually(shared, "one partition for each member")
    await two.stop()
    await eventually(both, "both partitions for the one that stays")
    await one.stop()


async def survive(cluster):
    survival = Survival(await cluster.create("survivor", min_insync_replicas="2"))
    producer = await cluster.producer(enable_idempotence=True, request_timeout_ms=2000, metadata_max_age_ms=1000)
    number = 0
    while survival.more():
        value = str(number).encode()
        sent = await producer.send(survival.topic, value, partition=0)
        await asyncio.wait_for(sent, 2 * DEADLINE_S)
        survival.acknowledge(value)
        number += 1
    await producer.stop()
    survival.judge([r.value for r in await cluster.consume(survival.topic, number)])


async def make(bootstrap, prefix):
    cluster = Cluster(bootstrap, prefix)
    await cluster.admin.start()
    return cluster


sys.exit(asyncio.run(run_async(
    {"metadata": metadata, "topics": topics, "produce acks=0": produce_with(0), "produce acks=1": produce_with(1),
     "produce acks=all": produce_with("all"), "produce idempotent": idempotent, "codecs": codecs,
     "whole records": records, "assign": assign, "list offsets": list_offsets, "configs": configs,
     "group": group, "group admin": group_admin, "rebalance": rebalance, "survive a kill": survive}, make)))
