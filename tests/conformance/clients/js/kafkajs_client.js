// kafkajs: a client written in JavaScript alone. Called and heard as clients/python/conformance.py says.
'use strict'

const {CompressionTypes, ConfigResourceTypes, Kafka, logLevel} = require('kafkajs')

const DEADLINE_MS = 30000
const sleep = ms => new Promise(done => setTimeout(done, ms))

function check(condition, what) {
  if (!condition) throw new Error(what)
}

async function eventually(condition, what) {
  const end = Date.now() + DEADLINE_MS
  while (!await condition()) {
    check(Date.now() < end, `not within ${DEADLINE_MS} ms: ${what}`)
    await sleep(20)
  }
}

async function refused(type, call) {
  let result
  try {
    result = await call()
  } catch (error) {
    const types = [error.type, error.cause?.type, ...(error.errors || []).map(inner => inner.type)]
    check(types.includes(type), `${type} was expected, not ${types} ${error.message}`)
    return
  }
  throw new Error(`${type} was expected, not ${JSON.stringify(result)}`)
}

const range = count => Array.from({length: count}, (_, i) => i)
const valuesOf = (prefix, count) => range(count).map(i => `${prefix}-${i}`)
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

class Cluster {
  constructor(bootstrap, prefix) {
    this.prefix = prefix
    this.kafka = new Kafka({brokers: bootstrap, clientId: 'kafkajs', logLevel: logLevel.NOTHING})
    this.admin = this.kafka.admin()
  }

  name(topic) { return `${this.prefix}-${topic}` }

  async create(topic, numPartitions = 1, config = {}) {
    const name = this.name(topic)
    const configEntries = Object.entries(config).map(([key, value]) => ({name: key, value}))
    // Its own wait for leaders gives up when the broker that it asks does not know the topic yet.
    await this.admin.createTopics({
      waitForLeaders: false,
      topics: [{topic: name, numPartitions, replicationFactor: 3, configEntries}],
    })
    await eventually(async () => (await this.partitions(name)).filter(p => p.leader > 0).length === numPartitions,
      `leaders of ${name}`)
    return name
  }

  // In the order of their numbers; none if the broker that answers does not know the topic.
  async partitions(name) {
    try {
      const {topics} = await this.admin.fetchTopicMetadata({topics: [name]})
      return topics[0].partitions.sort((a, b) => a.partitionId - b.partitionId)
    } catch (error) {
      const type = error.type || error.cause?.type
      check(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'].includes(type), error.stack)
      return []
    }
  }

  async producer(config = {}) {
    const producer = this.kafka.producer({metadataMaxAge: 1000, ...config})
    await producer.connect()
    return producer
  }

  // One request for each value, so that each offset is told.
  async produce(topic, values, {acks = -1, partition = 0, idempotent = false} = {}) {
    const producer = await this.producer({idempotent, maxInFlightRequests: idempotent ? 1 : null})
    const offsets = []
    for (const value of values) {
      const answer = await producer.send({topic, acks, messages: [{partition, value}]})
      if (answer.length) offsets.push(Number(answer[0].baseOffset))
    }
    await producer.disconnect()
    return offsets
  }

  // It has no assign: a group of its own reads a topic from the beginning.
  async consume(topics, groupId, count, config = {}) {
    const consumer = this.kafka.consumer({groupId, heartbeatInterval: 200, sessionTimeout: 6000, maxWaitTimeInMs: 50,
      metadataMaxAge: 1000, ...config})
    await consumer.connect()
    await consumer.subscribe({topics, fromBeginning: true})
    const messages = []
    let held = []
    consumer.on(consumer.events.GROUP_JOIN, event => { held = event.payload.memberAssignment[topics[0]] || [] })
    await consumer.run({autoCommit: false, eachMessage: async ({partition, message}) => {
      messages.push({partition, ...message})
    }})
    await eventually(() => messages.length >= count, `${count} records of ${topics}`)
    return {consumer, messages, held: () => held}
  }

  async read(topic, count) {
    const {consumer, messages} = await this.consume([topic], `${topic}-reader`, count)
    await consumer.disconnect()
    return messages
  }
}

async function metadata(cluster) {
  const described = await cluster.admin.describeCluster()
  check(same(described.brokers.map(b => b.nodeId).sort(), [1, 2, 3]), JSON.stringify(described))
  check(described.clusterId, 'no cluster id')
  const name = await cluster.create('listed', 3)
  await eventually(async () => (await cluster.admin.listTopics()).includes(name), 'the topic in the list')
  let found
  await eventually(async () => {
    found = await cluster.partitions(name)
    return found.length === 3 && found.every(p => same([...p.isr].sort(), [1, 2, 3]))
  }, 'three partitions with an ISR of three')
  check(same(found.map(p => p.partitionId), [0, 1, 2]), JSON.stringify(found))
  check(found.every(p => same([...p.replicas].sort(), [1, 2, 3]) && p.leader === p.replicas[0]), JSON.stringify(found))
}

async function topics(cluster) {
  const name = await cluster.create('short-lived', 2)
  // It tells that a topic exists by false.
  const again = await cluster.admin.createTopics({topics: [{topic: name, numPartitions: 1, replicationFactor: 3}]})
  check(again === false, `created twice: ${again}`)
  await refused('INVALID_REPLICATION_FACTOR', () => cluster.admin.createTopics(
    {topics: [{topic: 'x', numPartitions: 1, replicationFactor: 4}]}))
  await cluster.produce(name, valuesOf('x', 10))
  await cluster.admin.deleteTopics({topics: [name]})
  await eventually(async () => !(await cluster.admin.listTopics()).includes(name), 'deletion')
  // It would try again for seconds.
  const once = cluster.kafka.admin({retry: {retries: 0}})
  await once.connect()
  await refused('UNKNOWN_TOPIC_OR_PARTITION', () => once.deleteTopics({topics: [name]}))
  await once.disconnect()
}

const produceWith = acks => async cluster => {
  const name = await cluster.create(`acks${acks}`)
  const values = valuesOf(`a${acks}`, 100)
  // As parts_of of conformance.py.
  const first = acks === 0 ? values.slice(0, 1) : []
  await cluster.produce(name, first)
  const offsets = await cluster.produce(name, values.slice(first.length), {acks})
  if (acks !== 0) check(same(offsets, range(100)), `offsets ${offsets.slice(0, 5)}…`)
  const read = await cluster.read(name, 100)
  check(same(read.map(m => m.value.toString()), values), 'other values')
  check(same(read.map(m => Number(m.offset)), range(100)), 'other offsets')
}

async function idempotent(cluster) {
  const name = await cluster.create('once', 1, {'min.insync.replicas': '2'})
  const values = valuesOf('once', 100)
  const offsets = await cluster.produce(name, values, {idempotent: true})
  check(same(offsets, range(100)), 'offsets are not in order')
  check(same((await cluster.read(name, 100)).map(m => m.value.toString()), values), 'other values')
}

async function codecs(cluster) {
  // The others need packages that do not come with it.
  for (const [codec, compression] of [['none', CompressionTypes.None], ['gzip', CompressionTypes.GZIP]]) {
    const name = await cluster.create(`codec-${codec}`)
    const values = range(500).map(i => 'the same words again and again '.repeat(20) + i)
    const producer = await cluster.producer()
    await producer.send({topic: name, compression, messages: values.map(value => ({partition: 0, value}))})
    await producer.disconnect()
    check(same((await cluster.read(name, 500)).map(m => m.value.toString()), values), `${codec}: other values`)
  }
}

async function records(cluster) {
  const name = await cluster.create('whole-records')
  const producer = await cluster.producer()
  await producer.send({topic: name, messages: [
    {partition: 0, key: 'key', value: 'value', headers: {a: '1', b: ''}, timestamp: '1234567'},
    {partition: 0, key: 'tombstone', value: null}]})
  await producer.disconnect()
  const [first, second] = await cluster.read(name, 2)
  check(first.key.toString() === 'key' && first.value.toString() === 'value', JSON.stringify(first))
  check(first.headers.a.toString() === '1' && first.headers.b.toString() === '', JSON.stringify(first.headers))
  check(first.timestamp === '1234567', first.timestamp)
  check(second.key.toString() === 'tombstone' && second.value === null, JSON.stringify(second))
}

async function listOffsets(cluster) {
  const name = await cluster.create('offsets')
  await cluster.produce(name, valuesOf('o', 50))
  const [found] = await cluster.admin.fetchTopicOffsets(name)
  check(found.low === '0' && found.high === '50' && found.offset === '50', JSON.stringify(found))
  const [first] = await cluster.admin.fetchTopicOffsetsByTimestamp(name, 1)
  check(first.offset === '0', JSON.stringify(first))
  // It answers with the end of the log where there is none so late.
  const [later] = await cluster.admin.fetchTopicOffsetsByTimestamp(name, Date.now() + 1e9)
  check(later.offset === '50', JSON.stringify(later))
}

async function configs(cluster) {
  const name = await cluster.create('configured', 1, {'min.insync.replicas': '2'})
  const described = async () => {
    const answer = await cluster.admin.describeConfigs({includeSynonyms: false,
      resources: [{type: ConfigResourceTypes.TOPIC, name, configNames: ['min.insync.replicas']}]})
    return answer.resources[0].configEntries.map(e => [e.configName, e.configValue])
  }
  // Another broker may answer than the one that knew the topic first.
  await eventually(async () => same(await described(), [['min.insync.replicas', '2']]), 'min.insync.replicas')
}

async function group(cluster) {
  const name = await cluster.create('grouped', 2)
  for (const partition of [0, 1]) await cluster.produce(name, valuesOf(`g${partition}`, 50), {partition})
  const groupId = cluster.name('group')
  const first = await cluster.consume([name], groupId, 100)
  for (const partition of [0, 1]) {
    const values = first.messages.filter(m => m.partition === partition).map(m => m.value.toString())
    check(same(values, valuesOf(`g${partition}`, 50)), 'other values')
  }
  check(same([...first.held()].sort(), [0, 1]), `${first.held()}`)
  await first.consumer.commitOffsets([0, 1].map(partition => ({topic: name, partition, offset: '50'})))
  await first.consumer.disconnect()
  const offsets = await cluster.admin.fetchOffsets({groupId, topics: [name]})
  check(offsets[0].partitions.every(p => p.offset === '50'), JSON.stringify(offsets))
  await cluster.produce(name, ['after'])
  const second = await cluster.consume([name], groupId, 1)
  check(same(second.messages.map(m => [m.value.toString(), m.offset]), [['after', '50']]), 'not from the commit')
  await second.consumer.disconnect()
}

async function groupAdmin(cluster) {
  const groupId = cluster.name('group')
  const listed = async () => (await cluster.admin.listGroups()).groups.map(g => g.groupId)
  check((await listed()).includes(groupId), `${await listed()}`)
  const [described] = (await cluster.admin.describeGroups([groupId])).groups
  check(described.state === 'Empty' && described.members.length === 0, JSON.stringify(described))
  await cluster.admin.deleteGroups([groupId])
  check(!(await listed()).includes(groupId), 'the deleted group is listed')
}

async function rebalance(cluster) {
  const name = await cluster.create('shared', 2)
  const members = [await cluster.consume([name], cluster.name('two-members'), 0)]
  const held = () => members.map(m => [...m.held()].sort())
  await eventually(() => same(held(), [[0, 1]]), 'both partitions for the first member')
  members.push(await cluster.consume([name], cluster.name('two-members'), 0))
  await eventually(() => same(held().sort(), [[0], [1]]), 'one partition for each member')
  await members.pop().consumer.disconnect()
  await eventually(() => same(held(), [[0, 1]]), 'both partitions for the one that stays')
  await members[0].consumer.disconnect()
}

// As Survival of conformance.py.
async function survive(cluster) {
  const name = await cluster.create('survivor', 1, {'min.insync.replicas': '2'})
  const producer = await cluster.producer({idempotent: true, maxInFlightRequests: 1,
    retry: {retries: 1000, initialRetryTime: 50, maxRetryTime: 500}})
  const acknowledged = []
  const end = Date.now() + 2 * DEADLINE_MS
  while (acknowledged.length < 320) {
    check(Date.now() < end, `${acknowledged.length} acknowledged, then no more`)
    const value = `${acknowledged.length}`
    await producer.send({topic: name, messages: [{partition: 0, value}]})
    acknowledged.push(value)
    if (acknowledged.length === 20) console.log(`kill\t${name}`)
  }
  await producer.disconnect()
  const read = (await cluster.read(name, acknowledged.length)).map(m => m.value.toString())
  check(new Set(read).size === read.length, 'a value is there twice')
  check(acknowledged.every(value => read.includes(value)), 'an acknowledged value is gone')
}

const OPERATIONS = {metadata, topics, 'produce acks=0': produceWith(0), 'produce acks=1': produceWith(1),
  'produce acks=all': produceWith(-1), 'produce idempotent': idempotent, codecs, 'whole records': records,
  'list offsets': listOffsets, configs, group, 'group admin': groupAdmin, rebalance, 'survive a kill': survive}
const LONG = ['survive a kill']

async function main() {
  const [bootstrap, prefix, some] = process.argv.slice(2)
  const names = some ? some.split(',') : Object.keys(OPERATIONS).filter(name => !LONG.includes(name))
  const unknown = names.filter(name => !OPERATIONS[name])
  check(bootstrap && prefix && !unknown.length, `usage: BOOTSTRAP PREFIX [${Object.keys(OPERATIONS)}]`)
  const cluster = new Cluster(bootstrap.split(','), prefix)
  await cluster.admin.connect()
  let failed = false
  for (const name of names) {
    const began = Date.now()
    let result = 'ok'
    try {
      const late = sleep(3 * DEADLINE_MS).then(() => { throw new Error('it does not end') })
      await Promise.race([OPERATIONS[name](cluster), late])
    } catch (error) {
      failed = true
      result = `failed: ${error.stack}`.replace(/[\n\t]/g, ' ')
    }
    console.log(`op\t${name}\t${Date.now() - began}\t${result}`)
  }
  await cluster.admin.disconnect()
  process.exit(failed ? 1 : 0)
}

main().catch(error => {
  console.error(error)
  process.exit(2)
})
