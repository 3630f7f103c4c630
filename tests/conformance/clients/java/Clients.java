import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Kafka's own client library. Usage: Clients BOOTSTRAP PREFIX [OPERATION,...], see clients/python/conformance.py. */
public final class Clients {
    private static final String CLIENT_ID = "kafka-clients";
    private static final String MIN_ISR = "min.insync.replicas";
    private static final Set<Integer> BROKERS = Set.of(1, 2, 3);

    private final String bootstrap;
    private final String prefix;
    private final Admin admin;

    private Clients(String bootstrap, String prefix) {
        this.bootstrap = bootstrap;
        this.prefix = prefix;
        admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "client.id", CLIENT_ID, "default.api.timeout.ms", 30_000));
    }

    private String name(String topic) { return prefix + "-" + topic; }

    private String create(String topic, int partitions, Map<String, String> configs) throws Exception {
        String name = name(topic);
        admin.createTopics(List.of(new NewTopic(name, partitions, (short) 3).configs(configs))).all().get();
        Suite.eventually("leaders of " + name,
                         () -> known(name).stream().filter(p -> p.leader() != null && p.leader().id() > 0).count() == partitions);
        return name;
    }

    /** None if the broker that answers does not know the topic yet. */
    private List<TopicPartitionInfo> known(String name) throws Exception {
        try {
            return described(name).partitions();
        } catch (ExecutionException error) {
            Suite.same("UnknownTopicOrPartitionException", error.getCause().getClass().getSimpleName());
            return List.of();
        }
    }

    private TopicDescription described(String name) throws Exception {
        return admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
    }

    private static List<String> valuesOf(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(i -> prefix + "-" + i).toList();
    }

    private KafkaProducer<String, String> producer(Map<String, String> configs) {
        Properties all = new Properties();
        all.put("bootstrap.servers", bootstrap);
        all.put("client.id", CLIENT_ID);
        all.put("enable.idempotence", "false");
        // Or a batch that is sent again, for a leader that does not know the topic yet, comes after later ones.
        all.put("max.in.flight.requests.per.connection", "1");
        all.putAll(configs);
        return new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
    }

    private List<Long> produce(String topic, int partition, List<String> values, Map<String, String> configs)
        throws Exception {
        try (var producer = producer(configs)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (String value : values) sent.add(producer.send(new ProducerRecord<>(topic, partition, null, value)));
            List<Long> offsets = new ArrayList<>();
            for (var future : sent) offsets.add(future.get(Suite.DEADLINE_MS, TimeUnit.MILLISECONDS).offset());
            return offsets;
        }
    }

    private KafkaConsumer<String, String> consumer(Map<String, String> configs) {
        Properties all = new Properties();
        all.put("bootstrap.servers", bootstrap);
        all.put("client.id", CLIENT_ID);
        all.put("enable.auto.commit", "false");
        all.put("auto.offset.reset", "none");
        all.put("fetch.max.wait.ms", "50");
        all.putAll(configs);
        return new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer());
    }

    private static List<ConsumerRecord<String, String>> take(KafkaConsumer<String, String> consumer, int count) {
        List<ConsumerRecord<String, String>> records = new ArrayList<>();
        long end = System.currentTimeMillis() + Suite.DEADLINE_MS;
        while (records.size() < count) {
            Suite.check(System.currentTimeMillis() < end, records.size() + " of " + count + " records");
            consumer.poll(Duration.ofMillis(200)).forEach(records::add);
        }
        return records;
    }

    private List<ConsumerRecord<String, String>> consume(String topic, long offset, int count) {
        try (var consumer = at(topic, offset)) {
            return take(consumer, count);
        }
    }

    private KafkaConsumer<String, String> at(String topic, long offset) {
        var consumer = consumer(Map.of());
        consumer.assign(List.of(new TopicPartition(topic, 0)));
        consumer.seek(new TopicPartition(topic, 0), offset);
        return consumer;
    }

    private static List<String> values(List<ConsumerRecord<String, String>> records) {
        return records.stream().map(ConsumerRecord::value).toList();
    }

    private static List<Long> upTo(int count) { return IntStream.range(0, count).mapToObj(Long::valueOf).toList(); }

    private static Set<Integer> ids(Collection<Node> nodes) {
        return nodes.stream().map(Node::id).collect(Collectors.toSet());
    }

    private void metadata() throws Exception {
        var cluster = admin.describeCluster();
        Suite.same(BROKERS, ids(cluster.nodes().get()));
        Suite.check(!cluster.clusterId().get().isEmpty(), "no cluster id");
        Suite.check(BROKERS.contains(cluster.controller().get().id()), "no controller");
        String name = create("listed", 3, Map.of());
        Suite.eventually("the topic in the list", () -> admin.listTopics().names().get().contains(name));
        List<TopicPartitionInfo> partitions = new ArrayList<>();
        Suite.eventually("three partitions with an ISR of three", () -> {
            partitions.clear();
            partitions.addAll(known(name));
            return partitions.size() == 3 && partitions.stream().allMatch(p -> ids(p.isr()).equals(BROKERS));
        });
        for (var partition : partitions) {
            Suite.same(BROKERS, ids(partition.replicas()));
            Suite.same(partition.replicas().get(0).id(), partition.leader().id());
        }
        Suite.refused("UnknownTopicOrPartitionException", () -> described("no-such-topic"));
    }

    private void topics() throws Exception {
        String name = create("short-lived", 2, Map.of());
        Suite.refused("TopicExistsException", () -> admin.createTopics(List.of(new NewTopic(name, 1, (short) 3))).all().get());
        Suite.refused("InvalidReplicationFactorException",
                      () -> admin.createTopics(List.of(new NewTopic("x", 1, (short) 4))).all().get());
        Suite.refused("InvalidTopicException", () -> admin.createTopics(List.of(new NewTopic("a b", 1, (short) 3))).all().get());
        produce(name, 0, valuesOf("x", 10), Map.of());
        admin.deleteTopics(List.of(name)).all().get();
        Suite.eventually("deletion", () -> !admin.listTopics().names().get().contains(name));
        Suite.refused("UnknownTopicOrPartitionException", () -> admin.deleteTopics(List.of(name)).all().get());
    }

    private void produceWith(String acks) throws Exception {
        String name = create("acks-" + acks, 1, Map.of());
        List<String> values = valuesOf(acks, 200);
        // As parts_of of conformance.py.
        int first = acks.equals("0") ? 1 : 0;
        produce(name, 0, values.subList(0, first), Map.of());
        List<Long> offsets = produce(name, 0, values.subList(first, 200), Map.of("acks", acks));
        if (!acks.equals("0")) Suite.same(upTo(200), offsets);
        var read = consume(name, 0, 200);
        Suite.same(values, values(read));
        Suite.same(upTo(200), read.stream().map(ConsumerRecord::offset).toList());
    }

    private void idempotent() throws Exception {
        String name = create("once", 1, Map.of(MIN_ISR, "2"));
        List<String> values = valuesOf("once", 1000);
        Suite.same(upTo(1000), produce(name, 0, values, Map.of("enable.idempotence", "true", "linger.ms", "5")));
        Suite.same(values, values(consume(name, 0, 1000)));
    }

    private void codecs() throws Exception {
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            String name = create("codec-" + codec, 1, Map.of());
            List<String> values = valuesOf("the same words again and again ".repeat(20), 500);
            produce(name, 0, values, Map.of("compression.type", codec, "linger.ms", "20"));
            Suite.same(values, values(consume(name, 0, 500)));
        }
    }

    private void records() throws Exception {
        String name = create("whole-records", 1, Map.of());
        try (var producer = producer(Map.of())) {
            var first = new ProducerRecord<>(name, 0, 1234567L, "key", "value");
            first.headers().add(new RecordHeader("a", "1".getBytes(StandardCharsets.UTF_8))).add(new RecordHeader("b", (byte[]) null));
            producer.send(first).get();
            producer.send(new ProducerRecord<>(name, 0, "tombstone", null)).get();
        }
        var read = consume(name, 0, 2);
        var first = read.get(0);
        Suite.same(List.of("key", "value", 1234567L), List.of(first.key(), first.value(), first.timestamp()));
        Suite.same(2, first.headers().toArray().length);
        Suite.same("1", new String(first.headers().lastHeader("a").value(), StandardCharsets.UTF_8));
        Suite.check(first.headers().lastHeader("b").value() == null, "a header without a value");
        Suite.same("tombstone", read.get(1).key());
        Suite.check(read.get(1).value() == null, read.get(1));
    }

    private void assign() throws Exception {
        String name = create("marks", 1, Map.of());
        produce(name, 0, valuesOf("w", 50), Map.of());
        Suite.same(valuesOf("w", 50).subList(30, 50), values(consume(name, 30, 20)));
        try (var tail = at(name, 50)) {
            Suite.check(tail.poll(Duration.ofMillis(300)).isEmpty(), "something at the end of the log");
            produce(name, 0, List.of("late"), Map.of());
            var late = take(tail, 1).get(0);
            Suite.same(List.of("late", 50L), List.of(late.value(), late.offset()));
        }
        try (var lost = at(name, 1000)) {
            Suite.refused("OffsetOutOfRangeException", () -> take(lost, 1));
        }
    }

    private void listOffsets() throws Exception {
        String name = create("offsets", 1, Map.of());
        produce(name, 0, valuesOf("o", 50), Map.of());
        TopicPartition partition = new TopicPartition(name, 0);
        var asked = new HashMap<OffsetSpec, Long>();
        asked.put(OffsetSpec.earliest(), 0L);
        asked.put(OffsetSpec.latest(), 50L);
        asked.put(OffsetSpec.forTimestamp(0), 0L);
        asked.put(OffsetSpec.forTimestamp(1L << 50), -1L);
        for (var entry : asked.entrySet()) {
            var found = admin.listOffsets(Map.of(partition, entry.getKey())).partitionResult(partition).get();
            Suite.same(entry.getValue(), found.offset());
        }
        long newest = admin.listOffsets(Map.of(partition, OffsetSpec.maxTimestamp())).partitionResult(partition).get().offset();
        Suite.check(newest >= 0 && newest < 50, newest);
        try (var consumer = consumer(Map.of())) {
            Suite.same(Map.of(partition, 50L), consumer.endOffsets(List.of(partition)));
            Suite.same(Map.of(partition, 0L), consumer.beginningOffsets(List.of(partition)));
        }
    }

    private void configs() throws Exception {
        String name = create("configured", 1, Map.of(MIN_ISR, "2"));
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, name);
        Suite.eventually("min.insync.replicas", () -> "2".equals(minIsr(topic)));
        alter(topic, MIN_ISR, "1");
        Suite.eventually("the new min.insync.replicas", () -> "1".equals(minIsr(topic)));
        Suite.refused("InvalidConfigurationException", () -> alter(topic, MIN_ISR, "none"));
        Suite.refused("InvalidConfigurationException", () -> alter(topic, "no.such.key", "1"));
        Suite.same("1", minIsr(topic));
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        Suite.refused("InvalidRequestException", () -> alter(broker, "replica.lag.time.max.ms", "5000"));
        var lag = admin.describeConfigs(List.of(broker)).all().get().get(broker).get("replica.lag.time.max.ms");
        Suite.same(List.of("3000", ConfigEntry.ConfigSource.STATIC_BROKER_CONFIG, true),
                   List.of(lag.value(), lag.source(), lag.isReadOnly()));
    }

    /** null: the broker that answered does not know the topic yet. */
    private String minIsr(ConfigResource topic) throws Exception {
        try {
            return admin.describeConfigs(List.of(topic)).all().get().get(topic).get(MIN_ISR).value();
        } catch (ExecutionException error) {
            Suite.same("UnknownTopicOrPartitionException", error.getCause().getClass().getSimpleName());
            return null;
        }
    }

    private Object alter(ConfigResource resource, String key, String value) throws Exception {
        var change = new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET);
        return admin.incrementalAlterConfigs(Map.of(resource, List.of(change))).all().get();
    }

    private KafkaConsumer<String, String> member(String group) {
        return consumer(Map.of("group.id", name(group), "auto.offset.reset", "earliest", "heartbeat.interval.ms", "200",
                               "session.timeout.ms", "6000"));
    }

    private void group() throws Exception {
        String name = create("grouped", 2, Map.of());
        for (int partition : List.of(0, 1)) produce(name, partition, valuesOf("g" + partition, 50), Map.of());
        try (var first = member("group")) {
            first.subscribe(List.of(name));
            var read = take(first, 100);
            for (int partition : List.of(0, 1)) {
                Suite.same(valuesOf("g" + partition, 50), values(read.stream().filter(r -> r.partition() == partition).toList()));
            }
            Suite.same(2, first.assignment().size());
            first.commitSync();
            var committed = first.committed(first.assignment());
            Suite.same(Set.of(50L), committed.values().stream().map(OffsetAndMetadata::offset).collect(Collectors.toSet()));
        }
        produce(name, 0, List.of("after"), Map.of());
        try (var second = member("group")) {
            second.subscribe(List.of(name));
            var again = take(second, 1).get(0);
            Suite.same(List.of("after", 50L), List.of(again.value(), again.offset()));
        }
    }

    private void groupAdmin() throws Exception {
        String id = name("group");
        Suite.check(groups().contains(id), "the group is not listed");
        var described = admin.describeConsumerGroups(List.of(id)).all().get().get(id);
        Suite.same(List.of("EMPTY", 0), List.of(described.groupState().name(), described.members().size()));
        var offsets = admin.listConsumerGroupOffsets(id).partitionsToOffsetAndMetadata().get();
        Suite.same(List.of(50L, 50L), offsets.values().stream().map(OffsetAndMetadata::offset).toList());
        admin.deleteConsumerGroups(List.of(id)).all().get();
        Suite.check(!groups().contains(id), "the deleted group is listed");
    }

    private Set<String> groups() throws Exception {
        return admin.listGroups().all().get().stream().map(g -> g.groupId()).collect(Collectors.toSet());
    }

    private static Set<Integer> held(KafkaConsumer<String, String> member) {
        member.poll(Duration.ofMillis(50));
        return member.assignment().stream().map(TopicPartition::partition).collect(Collectors.toCollection(TreeSet::new));
    }

    private void rebalance() throws Exception {
        String name = create("shared", 2, Map.of());
        try (var one = member("two-members")) {
            one.subscribe(List.of(name));
            Suite.eventually("both partitions for the first member", () -> held(one).equals(Set.of(0, 1)));
            try (var two = member("two-members")) {
                two.subscribe(List.of(name));
                Suite.eventually("one partition for each member", () -> {
                    // Both must poll, or the rebalance waits for the one that does not.
                    List<Set<Integer>> both = List.of(held(one), held(two));
                    return Set.copyOf(both).equals(Set.of(Set.of(0), Set.of(1)));
                });
            }
            Suite.eventually("both partitions for the one that stays", () -> held(one).equals(Set.of(0, 1)));
        }
    }

    /** As Survival of conformance.py. */
    private void survive() throws Exception {
        String name = create("survivor", 1, Map.of(MIN_ISR, "2"));
        List<String> acknowledged = valuesOf("s", 320);
        try (var producer = producer(Map.of("enable.idempotence", "true", "request.timeout.ms", "2000",
                                            "delivery.timeout.ms", "60000", "metadata.max.age.ms", "1000"))) {
            for (int i = 0; i < acknowledged.size(); i++) {
                if (i == 20) System.out.println("kill\t" + name);
                producer.send(new ProducerRecord<>(name, 0, null, acknowledged.get(i))).get();
            }
        }
        // Idempotent and one after another: exactly these, in this order.
        Suite.same(acknowledged, values(consume(name, 0, acknowledged.size())));
    }

    public static void main(String[] args) {
        Clients clients = new Clients(args[0], args[1]);
        Suite suite = new Suite().add("metadata", clients::metadata).add("topics", clients::topics)
            .add("produce acks=0", () -> clients.produceWith("0")).add("produce acks=1", () -> clients.produceWith("1"))
            .add("produce acks=all", () -> clients.produceWith("all")).add("produce idempotent", clients::idempotent)
            .add("codecs", clients::codecs).add("whole records", clients::records).add("assign", clients::assign)
            .add("list offsets", clients::listOffsets).add("configs", clients::configs).add("group", clients::group)
            .add("group admin", clients::groupAdmin).add("rebalance", clients::rebalance)
            .add("survive a kill", clients::survive);
        int code = suite.run(args.length > 2 ? args[2] : null, Set.of("survive a kill"));
        clients.admin.close();
        System.exit(code);
    }
}
