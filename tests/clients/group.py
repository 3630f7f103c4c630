"""A group of two consumers (librdkafka), the classic protocol.

usage: group.py consume BOOTSTRAP TOPIC SEEN   until the file SEEN.stop exists; each value is a line of SEEN once
                                               it is committed; offsets are committed one batch at a time
       group.py committed BOOTSTRAP TOPIC      the sum of what the group has committed, of partitions 0 and 1
"""
import os
import sys
import time

from confluent_kafka import Consumer, KafkaException, TopicPartition

DEADLINE_S = 60
GROUP = "readers"
BATCH = 10


def consumer(bootstrap, errors):
    def on_error(error):
        # Brokers come and go; what ends a consumer must not happen.
        if error.fatal():
            errors.append(str(error))

    return Consumer({
        "bootstrap.servers": bootstrap, "group.id": GROUP, "group.protocol": "classic",
        "enable.auto.commit": False, "auto.offset.reset": "earliest", "session.timeout.ms": 6000,
        "heartbeat.interval.ms": 500, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500,
        "topic.metadata.refresh.interval.ms": 1000, "socket.timeout.ms": 3000, "log_level": 0,
        "error_cb": on_error})


def commit(one):
    """True once it is committed; False if the group has moved on and somebody reads these again."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        try:
            one.commit(asynchronous=False)
            return True
        except KafkaException as problem:
            name = problem.args[0].name()
            # _NO_OFFSET: its partitions were taken from it before it could commit.
            if name in ("_NO_OFFSET", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS"):
                return False
            time.sleep(0.05)
    sys.exit("nothing could be committed")


def consume(bootstrap, topic, seen_file):
    errors = []
    one = consumer(bootstrap, errors)
    one.subscribe([topic])
    with open(seen_file, "w", buffering=1) as seen:
        while not os.path.exists(seen_file + ".stop") and not errors:
            values = [message.value().decode() for message in one.consume(BATCH, 0.2) if not message.error()]
            if values and commit(one):
                seen.write("".join(value + "\n" for value in values))
    one.close()
    if errors:
        sys.exit(f"{errors[:3]}")


def committed(bootstrap, topic):
    errors = []
    one = consumer(bootstrap, errors)
    found = one.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)], timeout=DEADLINE_S)
    print(sum(max(partition.offset, 0) for partition in found))


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "consume":
        consume(*sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == "committed":
        committed(*sys.argv[2:])
    else:
        sys.exit(__doc__)
