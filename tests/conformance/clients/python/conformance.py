"""What the Python clients of the suite share: how an operation is run, timed and told.

A client is called as `PROGRAM BOOTSTRAP PREFIX [OPERATION,...]`. Names of topics and groups begin with PREFIX.
Each operation is one line on stdout: `op<TAB>name<TAB>milliseconds<TAB>ok`, or `failed: why` in place of ok.
Exits 1 if one failed. What an operation must see is the same on every cluster.
"""
import asyncio
import sys
import time
import traceback

DEADLINE_S = 30


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def eventually(condition, what):
    end = time.monotonic() + DEADLINE_S
    while not condition():
        check(time.monotonic() < end, f"not within {DEADLINE_S} s: {what}")
        time.sleep(0.05)


def refused(error_name, call, name_of):
    """`call` must raise an error that `name_of` names `error_name`."""
    try:
        result = call()
    except Exception as error:  # pylint: disable=broad-except
        check(name_of(error) == error_name, f"{error_name} was expected, not {error!r}")
        return
    raise AssertionError(f"{error_name} was expected, not {result!r}")


def values_of(prefix, count):
    return [f"{prefix}-{i}".encode() for i in range(count)]


def parts_of(values, level):
    """What is produced with acks=all and what with `level`. A broker that does not know the topic yet answers acks=0 by
    closing the connection, and what was sent is lost: the first value makes sure that it knows."""
    return (values[:1], values[1:]) if str(level) == "0" else ([], values)


def wanted(operations):
    """The operations of the command line, which may name some of them, in the order of `operations`."""
    if len(sys.argv) not in (3, 4):
        sys.exit(f"usage: {sys.argv[0]} BOOTSTRAP PREFIX [{','.join(operations)}]")
    names = sys.argv[3].split(",") if len(sys.argv) == 4 else [n for n in operations if n not in LONG]
    unknown = set(names) - set(operations)
    if unknown:
        sys.exit(f"{sys.argv[0]} has no operation {unknown}")
    return [(name, operations[name]) for name in operations if name in names]


# Only run when asked for: they need somebody who ends a broker.
LONG = {"survive a kill"}


def tell(name, began, problem=""):
    spent = (time.monotonic() - began) * 1000
    print(f"op\t{name}\t{spent:.0f}\t{'failed: ' + problem if problem else 'ok'}", flush=True)


def one_line(error):
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{error!r} at {place.name}:{place.lineno}".replace("\n", " ").replace("\t", " ")


def run(operations, make_cluster):
    failed = False
    cluster = make_cluster(sys.argv[1].split(","), sys.argv[2]) if len(sys.argv) > 2 else None
    for name, operation in wanted(operations):
        began = time.monotonic()
        try:
            operation(cluster)
            tell(name, began)
        except Exception as error:  # pylint: disable=broad-except
            failed = True
            tell(name, began, one_line(error))
    cluster.close()
    sys.exit(1 if failed else 0)


async def run_async(operations, make_cluster):
    failed = False
    chosen = wanted(operations)
    cluster = await make_cluster(sys.argv[1].split(","), sys.argv[2])
    for name, operation in chosen:
        began = time.monotonic()
        try:
            await asyncio.wait_for(operation(cluster), 3 * DEADLINE_S)
            tell(name, began)
        except Exception as error:  # pylint: disable=broad-except
            failed = True
            tell(name, began, one_line(error))
    await cluster.close()
    return 1 if failed else 0


class Survival:
    """Judges an idempotent producer that goes on while the leader of its partition is ended from outside.

    Prints `kill<TAB>TOPIC` once it runs; whoever reads it ends the leader.
    """

    BEFORE = 20
    AFTER = 300

    def __init__(self, topic):
        self.topic = topic
        self.acknowledged = []
        self.told = False
        self.end = time.monotonic() + 2 * DEADLINE_S

    def acknowledge(self, value):
        self.acknowledged.append(value)
        if not self.told and len(self.acknowledged) >= self.BEFORE:
            self.told = True
            print(f"kill\t{self.topic}", flush=True)

    def more(self):
        check(time.monotonic() < self.end, f"{len(self.acknowledged)} acknowledged, then no more")
        return len(self.acknowledged) < self.BEFORE + self.AFTER

    def judge(self, read):
        check(sorted(set(read)) == sorted(read), "a value is there twice")
        check(not set(self.acknowledged) - set(read), "an acknowledged value is gone")
