"""An idempotent producer that goes on through elections, and a consumer that counts.

usage: once.py produce BOOTSTRAP TOPIC ACKED   numbers, one a record, until the file ACKED.stop exists;
                                               each acknowledged one is a line of ACKED
       once.py verify  BOOTSTRAP TOPIC ACKED   reads the topic by assign: each acknowledged number exactly once,
                                               none twice
"""
import os
import sys
import time
from collections import Counter

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

DEADLINE_S = 120
IN_FLIGHT = 200


def produce(bootstrap, topic, acked_file):
    fatal = []

    def on_error(error):
        # Brokers come and go; what ends an idempotent producer is what must never happen.
        if error.fatal() or error.code() == KafkaError._FATAL:
            fatal.append(str(error))

    producer = Producer({
        "bootstrap.servers": bootstrap, "enable.idempotence": True, "acks": "all", "linger.ms": 2,
        "message.timeout.ms": DEADLINE_S * 1000, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500,
        "retry.backoff.ms": 50, "topic.metadata.refresh.interval.ms": 1000, "socket.timeout.ms": 3000,
        "request.timeout.ms": 2000, "log_level": 0, "error_cb": on_error})
    stop = acked_file + ".stop"
    waiting = 0
    with open(acked_file, "w", buffering=1) as acked:
        def delivered(error, message):
            nonlocal waiting
            waiting -= 1
            if error:
                fatal.append(f"{message.value()}: {error}")
            else:
                acked.write(message.value().decode() + "\n")

        number = 0
        while not os.path.exists(stop) and not fatal:
            while waiting < IN_FLIGHT and not fatal:
                producer.produce(topic, str(number), partition=0, on_delivery=delivered)
                number += 1
                waiting += 1
            producer.poll(0.005)
        left = producer.flush(DEADLINE_S)
        if left or fatal:
            sys.exit(f"{left} of {number} not delivered: {fatal[:3]}")


def verify(bootstrap, topic, acked_file):
    with open(acked_file) as lines:
        acked = [line.strip() for line in lines]
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "none", "enable.auto.commit": False,
                         "check.crcs": True, "isolation.level": "read_uncommitted"})
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=DEADLINE_S)
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    read = []
    next_offset = 0
    deadline = time.monotonic() + DEADLINE_S
    while next_offset < end:
        if time.monotonic() > deadline:
            sys.exit(f"read up to {next_offset} of {end}")
        message = consumer.poll(0.5)
        if message is None:
            continue
        if message.error():
            sys.exit(f"poll: {message.error()}")
        read.append(message.value().decode())
        next_offset = message.offset() + 1
    consumer.close()
    twice = [value for value, times in Counter(read).items() if times > 1]
    lost = sorted(set(acked) - set(read), key=int)
    if not acked or twice or lost:
        sys.exit(f"{len(acked)} acknowledged, {len(read)} read, {len(twice)} twice: {twice[:5]}, "
                 f"{len(lost)} lost: {lost[:5]}")
    print(f"{len(acked)} acknowledged, {len(read)} read, each once")


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in ("produce", "verify"):
        sys.exit(__doc__)
    {"produce": produce, "verify": verify}[sys.argv[1]](*sys.argv[2:])
