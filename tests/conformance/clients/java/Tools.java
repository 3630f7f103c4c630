import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.common.utils.Exit;
import org.slf4j.LoggerFactory;

/**
 * Kafka's command line tools by their main(), all in one JVM. Usage: Tools BOOTSTRAP PREFIX [OPERATION,...], see
 * clients/python/conformance.py. The property data.dirs names the data directories of broker 1 and the controller.
 */
public final class Tools {
    /** Thrown where a tool would end the JVM. */
    private static final class Ended extends RuntimeException {
        Ended() { super(null, null, false, false); }
    }

    private record Said(int code, String text) {
        List<String> lines() { return text.isEmpty() ? List.of() : Arrays.asList(text.split("\n")); }

        List<String> linesWith(String part) { return lines().stream().filter(line -> line.contains(part)).toList(); }
    }

    private static final ByteArrayOutputStream output = new ByteArrayOutputStream();
    /** What the tool that runs has said when it first wanted to end: some catch what ends them and say more. */
    private static Said ended;
    /** What it wants done at the end of the JVM. */
    private static final List<Runnable> hooks = new ArrayList<>();

    private static final String TOOLS = "org.apache.kafka.tools.";

    private final String bootstrap;
    private final String prefix;

    private Tools(String bootstrap, String prefix) {
        this.bootstrap = bootstrap;
        this.prefix = prefix;
    }

    private static void exit(int code, String message) {
        if (ended == null) ended = new Said(code, output.toString());
        throw new Ended();
    }

    /** Some tools give theirs to the JVM; needs --add-opens java.base/java.lang=ALL-UNNAMED. */
    private static Set<Thread> shutdownHooks() throws Exception {
        Field field = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks");
        field.setAccessible(true);
        @SuppressWarnings("unchecked") Map<Thread, Thread> all = (Map<Thread, Thread>) field.get(null);
        return all.keySet();
    }

    /** Runs a tool as its script does; what it says on both outputs. */
    private static Said run(String tool, String... args) throws Exception {
        PrintStream out = System.out, err = System.err, both = new PrintStream(output, true);
        output.reset();
        hooks.clear();
        Set<Thread> known = Set.copyOf(shutdownHooks());
        ended = null;
        System.setOut(both);
        System.setErr(both);
        try {
            Class.forName(tool).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException error) {
            if (!(error.getCause() instanceof Ended)) throw new AssertionError(tool + ": " + error.getCause() + " " + output);
        } finally {
            if (ended == null) ended = new Said(0, output.toString());
            output.reset();
            for (Thread hook : Set.copyOf(shutdownHooks())) {
                if (!known.contains(hook) && Runtime.getRuntime().removeShutdownHook(hook)) hook.run();
            }
            hooks.forEach(Runnable::run);
            System.setOut(out);
            System.setErr(err);
        }
        return new Said(ended.code, ended.text + output);
    }

    private Said at(String tool, String... args) throws Exception {
        List<String> all = new ArrayList<>(List.of("--bootstrap-server", bootstrap));
        all.addAll(List.of(args));
        return run(tool, all.toArray(String[]::new));
    }

    private Said topics(String... args) throws Exception { return at(TOOLS + "TopicCommand", args); }

    private Said configs(String... args) throws Exception { return at("kafka.admin.ConfigCommand", args); }

    private Said elect(String type, String topic) throws Exception {
        return at(TOOLS + "LeaderElectionCommand", "--election-type", type, "--topic", topic, "--partition", "0");
    }

    private String name(String topic) { return prefix + "-" + topic; }

    /** Two partitions, led by 1 and by 2. */
    private String create(String topic) throws Exception {
        String name = name(topic);
        Said created = topics("--create", "--topic", name, "--replica-assignment", "1:2:3,2:3:1", "--config",
                              "min.insync.replicas=2");
        Suite.same("Created topic " + name + ".\n", created.text);
        Suite.same(0, created.code);
        Suite.eventually("leaders of " + name, () -> describe(name).text.contains("Leader: 1") && describe(name).text.contains("Leader: 2"));
        return name;
    }

    private Said describe(String name) throws Exception { return topics("--describe", "--topic", name); }

    private static void succeeded(Said said) { Suite.check(said.code == 0, said.code + " " + said.text); }

    private void create() throws Exception {
        String name = create("created");
        Said again = topics("--create", "--topic", name, "--partitions", "1", "--replication-factor", "3");
        Suite.same(1, again.code);
        Suite.check(again.text.contains("Topic '" + name + "' already exists."), again.text);
        succeeded(topics("--create", "--if-not-exists", "--topic", name, "--partitions", "1"));
        Suite.eventually("the topic in the list", () -> topics("--list").linesWith(name).equals(List.of(name)));
    }

    private void describe() throws Exception {
        String name = create("described");
        List<String> lines = describe(name).lines();
        Suite.same(3, lines.size());
        Suite.check(lines.get(0).matches("Topic: " + name + "\tTopicId: [A-Za-z0-9_-]{22}\tPartitionCount: 2\t"
                                         + "ReplicationFactor: 3\tConfigs: min.insync.replicas=2"),
                    lines.get(0));
        Suite.same("\tTopic: " + name + "\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \tLastKnownElr: ", lines.get(1));
        Suite.same("\tTopic: " + name + "\tPartition: 1\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,3,1\tElr: \tLastKnownElr: ", lines.get(2));
        for (String which : List.of("under-replicated", "under-min-isr", "at-min-isr", "unavailable")) {
            Said none = topics("--describe", "--" + which + "-partitions", "--topic", name);
            Suite.same("", none.text);
            Suite.same(0, none.code);
        }
        Said unknown = describe("no-such-topic");
        Suite.same(1, unknown.code);
        Suite.check(unknown.text.contains("Topic 'no-such-topic' does not exist as expected"), unknown.text);
    }

    private void delete() throws Exception {
        String name = create("deleted");
        succeeded(topics("--delete", "--topic", name));
        Suite.eventually("deletion", () -> topics("--list").linesWith(name).isEmpty());
        Suite.same(1, topics("--delete", "--topic", name).code);
    }

    private void topicConfigs() throws Exception {
        String name = create("configured");
        List<String> topic = List.of("--entity-type", "topics", "--entity-name", name);
        Suite.same("Completed updating config for topic " + name + ".\n",
                   configs(with(topic, "--alter", "--add-config", "unclean.leader.election.enable=true")).text);
        Suite.eventually("the new config", () -> describedConfigs(topic).size() == 3);
        List<String> lines = describedConfigs(topic);
        Suite.same("Dynamic configs for topic " + name + " are:", lines.get(0));
        Suite.same(1L, starting(lines, "  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2"));
        Suite.same(1L, starting(lines, "  unclean.leader.election.enable=true sensitive=false synonyms={"
                                           + "DYNAMIC_TOPIC_CONFIG:unclean.leader.election.enable=true, "
                                           + "DEFAULT_CONFIG:unclean.leader.election.enable=false}"));
        succeeded(configs(with(topic, "--alter", "--delete-config", "unclean.leader.election.enable")));
        Suite.eventually("the old config", () -> describedConfigs(topic).size() == 2);
        Said wrong = configs(with(topic, "--alter", "--add-config", "min.insync.replicas=none"));
        Suite.same(1, wrong.code);
        Suite.check(wrong.text.contains("InvalidConfigurationException: Invalid value none for configuration min.insync.replicas: "
                                        + "Not a number of type INT"), wrong.text);
        Said unknown = configs(with(topic, "--alter", "--add-config", "no.such.key=1"));
        Suite.same(1, unknown.code);
        Suite.check(unknown.text.contains("InvalidConfigurationException: Unknown topic config name: no.such.key"), unknown.text);
    }

    private List<String> describedConfigs(List<String> entity) throws Exception {
        return configs(with(entity, "--describe")).lines();
    }

    private static long starting(List<String> lines, String beginning) {
        return lines.stream().filter(line -> line.startsWith(beginning)).count();
    }

    private static String[] with(List<String> args, String... more) {
        List<String> all = new ArrayList<>(args);
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }

    private void brokerConfigs() throws Exception {
        List<String> broker = List.of("--entity-type", "brokers", "--entity-name", "1");
        for (String key : List.of("replica.lag.time.max.ms", "broker.session.timeout.ms", "log.dirs", "node.id")) {
            Said refused = configs(with(broker, "--alter", "--add-config", key + "=5000"));
            Suite.same(1, refused.code);
            Suite.check(refused.text.contains("InvalidRequestException: Cannot update these configs dynamically: [" + key + "]"),
                        refused.text);
        }
        Said all = configs(with(broker, "--describe", "--all"));
        succeeded(all);
        Suite.same(1L, starting(all.lines(), "  replica.lag.time.max.ms=3000 sensitive=false synonyms={"
                                                 + "STATIC_BROKER_CONFIG:replica.lag.time.max.ms=3000, "
                                                 + "DEFAULT_CONFIG:replica.lag.time.max.ms=30000}"));
    }

    private void offsets() throws Exception {
        String name = create("counted");
        produce(name, 5, "-1");
        Suite.same(5, endOffsets(name));
        Suite.same(name + ":0:0\n" + name + ":1:0\n", at(TOOLS + "GetOffsetShell", "--topic", name, "--time", "earliest").text);
    }

    /** The sum of those of all partitions. */
    private int endOffsets(String topic) throws Exception {
        Said latest = at(TOOLS + "GetOffsetShell", "--topic", topic);
        succeeded(latest);
        for (String line : latest.lines()) Suite.check(line.matches(topic + ":[01]:[0-9]+"), line);
        return latest.lines().stream().mapToInt(line -> Integer.parseInt(line.split(":")[2])).sum();
    }

    private void preferred() throws Exception {
        String name = create("preferred");
        Said valid = elect("preferred", name);
        succeeded(valid);
        Suite.same("Valid replica already elected for partitions " + name + "-0\n", valid.text);
    }

    private void unclean() throws Exception {
        String name = create("unclean");
        Said valid = elect("unclean", name);
        succeeded(valid);
        Suite.same("Valid replica already elected for partitions " + name + "-0\n", valid.text);
        Said unknown = elect("unclean", "no-such-topic");
        Suite.same(1, unknown.code);
        Suite.check(unknown.text.contains("UnknownTopicOrPartitionException"), unknown.text);
    }

    /** The follower dies, then the leader, and the follower alone comes back: it may lead if it is asked to uncleanly. */
    private void uncleanWithoutLeader() throws Exception {
        String name = name("stranded");
        Said created = topics("--create", "--topic", name, "--replica-assignment", "1:2", "--config", "min.insync.replicas=1");
        succeeded(created);
        Suite.eventually("a leader of " + name, () -> describe(name).text.contains("Leader: 1"));
        System.out.println("kill\t" + name);
        System.out.flush();
        Suite.eventually("nobody to lead " + name, () -> describe(name).text.contains("Leader: none"));
        // Until its broker is unfenced nobody can be elected.
        Suite.eventually("an election", () -> {
            Said elected = elect("unclean", name);
            return elected.code == 0
                && elected.text.equals("Successfully completed leader election (UNCLEAN) for partitions " + name + "-0\n");
        });
        Suite.eventually("another leader", () -> describe(name).text.contains("Leader: 2"));
    }

    /** The verifiable producer's lines. */
    private List<String> produce(String topic, int count, String acks) throws Exception {
        Said said = at(TOOLS + "VerifiableProducer", "--topic", topic, "--max-messages", "" + count, "--acks", acks);
        succeeded(said);
        Suite.same(count, said.linesWith("\"name\":\"producer_send_success\"").size());
        Suite.same(0, said.linesWith("\"name\":\"producer_send_error\"").size());
        Suite.same(1, said.linesWith("\"name\":\"tool_data\",\"sent\":" + count + ",\"acked\":" + count).size());
        return said.lines();
    }

    private void verifiableProducer() throws Exception {
        String name = create("verifiable");
        for (String acks : List.of("-1", "1", "0")) produce(name, 100, acks);
        // acks=0 does not wait for the append.
        Suite.eventually("300 records", () -> endOffsets(name) == 300);
    }

    private void verifiableConsumer() throws Exception {
        String name = create("verified");
        produce(name, 100, "-1");
        Said said = at(TOOLS + "VerifiableConsumer", "--topic", name, "--group-id", name("verifiable"), "--max-messages", "100",
                       "--reset-policy", "earliest", "--verbose");
        Suite.same(100, said.linesWith("\"name\":\"record_data\"").size());
        Suite.same(1, said.linesWith("\"name\":\"partitions_assigned\",\"partitions\":[{\"topic\":\"" + name
                                     + "\",\"partition\":0},{\"topic\":\"" + name + "\",\"partition\":1}]").size());
        Suite.check(!said.linesWith("\"name\":\"offsets_committed\"").isEmpty(), said.text);
        Suite.check(said.linesWith("\"success\":false").isEmpty(), said.text);
    }

    private Said console(String topic, int count, String... args) throws Exception {
        // It counts over all of its runs.
        Field counter = Class.forName(TOOLS + "consumer.ConsoleConsumer").getDeclaredField("messageCount");
        counter.setAccessible(true);
        counter.setInt(null, 0);
        List<String> all = new ArrayList<>(List.of("--topic", topic, "--max-messages", "" + count, "--timeout-ms", "20000"));
        all.addAll(List.of(args));
        Said said = at(TOOLS + "consumer.ConsoleConsumer", all.toArray(String[]::new));
        succeeded(said);
        Suite.same(1, said.linesWith("Processed a total of " + count + " messages").size());
        return said;
    }

    private static List<Integer> numbers(Said said) {
        return said.lines().stream().filter(line -> line.matches("[0-9]+")).map(Integer::parseInt).sorted().toList();
    }

    private void consoleConsumer() throws Exception {
        String name = create("console");
        produce(name, 20, "-1");
        List<Integer> all = java.util.stream.IntStream.range(0, 20).boxed().toList();
        Suite.same(all, numbers(console(name, 20, "--from-beginning")));
        Said latest = at(TOOLS + "GetOffsetShell", "--topic", name);
        for (String line : latest.lines()) {
            String[] parts = line.split(":");
            int end = Integer.parseInt(parts[2]);
            if (end == 0) continue;
            Said part = console(name, 1, "--partition", parts[1], "--offset", "" + (end - 1), "--formatter-property",
                                "print.offset=true", "--formatter-property", "print.partition=true");
            Suite.same(1, part.linesWith("Partition:" + parts[1] + "\tOffset:" + (end - 1) + "\t").size());
        }
    }

    private void consoleConsumerInAGroup() throws Exception {
        String name = create("console-group"), group = name("console");
        produce(name, 20, "-1");
        Suite.same(20, numbers(console(name, 20, "--group", group, "--from-beginning")).size());
        Said described = at(TOOLS + "consumer.group.ConsumerGroupCommand", "--describe", "--group", group);
        succeeded(described);
        List<String> lines = described.lines().stream().filter(line -> line.startsWith(group)).toList();
        int committed = 0;
        for (String line : lines) {
            String[] cells = line.split(" +");
            // A partition from which nothing came may have no commit.
            if (cells[3].equals("-")) continue;
            committed += Integer.parseInt(cells[3]);
            Suite.same(List.of(name, cells[3], "0"), List.of(cells[1], cells[4], cells[5]));
        }
        Suite.same(20, committed);
        produce(name, 3, "-1");
        // From where it had come; from the beginning of a partition without a commit.
        Suite.same(List.of(0, 1, 2), numbers(console(name, 3, "--group", group, "--from-beginning")));
    }

    /** What kafka-log-dirs says once no replica of the topic's two partitions lags. */
    private String caughtUpLogDirs(String name) throws Exception {
        String[] json = new String[1];
        Suite.eventually("three replicas without a lag", () -> {
            Said said = at(TOOLS + "LogDirsCommand", "--describe", "--topic-list", name, "--broker-list", "1,2,3");
            succeeded(said);
            Suite.same(1, said.linesWith("Received log directory information from brokers 1,2,3").size());
            json[0] = said.linesWith("{\"brokers\":").get(0);
            return List.of(0, 1).stream().allMatch(partition -> json[0].split(
                "\\{\"partition\":\"" + name + "-" + partition + "\",\"size\":[0-9]+,\"offsetLag\":0,\"isFuture\":false\\}", -1).length == 4);
        });
        return json[0];
    }

    private void logDirs() throws Exception {
        String name = create("sized");
        produce(name, 10, "-1");
        // A follower learns the high watermark, from which its lag is told, by its next fetch.
        String json = caughtUpLogDirs(name);
        for (int broker : List.of(1, 2, 3)) Suite.check(json.contains("{\"broker\":" + broker + ",\"logDirs\":[{\"partitions\":["), json);
        Suite.check(json.contains("\"error\":null,\"logDir\":\"/") && json.endsWith("\"version\":1}"), json);
    }

    private static String[] files(String directory, Predicate<String> wanted) {
        String[] names = new File(directory).list((in, name) -> wanted.test(name));
        Suite.check(names != null && names.length > 0, "no such files in " + directory);
        return Arrays.stream(names).sorted().map(name -> directory + "/" + name).toArray(String[]::new);
    }

    private static Said dump(String directory, String ending, String... options) throws Exception {
        List<String> args = new ArrayList<>(List.of(options));
        args.addAll(List.of("--files", String.join(",", files(directory, name -> name.endsWith(ending)))));
        Said said = run(TOOLS + "DumpLogSegments", args.toArray(String[]::new));
        succeeded(said);
        for (String sign : List.of("Exception", "isvalid: false", "Mismatches", "Non-consecutive", "Out of order", "not found")) {
            Suite.same(List.of(), said.linesWith(sign));
        }
        return said;
    }

    private void dumpLog() throws Exception {
        String name = create("dumped");
        produce(name, 50, "-1");
        int records = 0;
        for (int partition : List.of(0, 1)) {
            String directory = System.getProperty("data.dirs").split(",")[0] + "/" + name + "-" + partition;
            int found = dump(directory, ".log", "--deep-iteration", "--print-data-log").linesWith("| offset: ").size();
            records += found;
            // Not more: what Kafka sets aside for entries to come is no entry, but the tool reads it as one.
            dump(directory, ".index", "--index-sanity-check");
            dump(directory, ".timeindex", "--index-sanity-check");
        }
        Suite.same(50, records);
    }

    private void dumpMetadata() throws Exception {
        String name = create("known");
        String directory = System.getProperty("data.dirs").split(",")[1] + "/__cluster_metadata-0";
        Said said = dump(directory, ".log", "--cluster-metadata-decoder");
        Suite.same(1, said.linesWith("\"type\":\"TOPIC_RECORD\",\"version\":0,\"data\":{\"name\":\"" + name + "\"").size());
        Suite.check(said.linesWith("\"type\":\"REGISTER_BROKER_RECORD\"").size() >= 3, "not every broker");
        Suite.check(said.linesWith("\"type\":\"PARTITION_RECORD\"").size() >= 2, "no partitions");
    }

    /** Somebody must kill brokers for it. */
    private static final String LONG = "kafka-leader-election unclean where nobody leads";

    public static void main(String[] args) {
        // Before the first tool: what logs has hooks of its own.
        LoggerFactory.getLogger(Tools.class);
        Exit.setExitProcedure(Tools::exit);
        Exit.setHaltProcedure(Tools::exit);
        Exit.setShutdownHookAdder((name, hook) -> hooks.add(hook));
        Tools tools = new Tools(args[0], args[1]);
        Suite suite = new Suite().add("kafka-topics --create", tools::create).add("kafka-topics --describe", tools::describe)
            .add("kafka-topics --delete", tools::delete).add("kafka-configs of topics", tools::topicConfigs)
            .add("kafka-configs of brokers", tools::brokerConfigs).add("kafka-get-offsets", tools::offsets)
            .add("kafka-leader-election preferred", tools::preferred).add("kafka-leader-election unclean", tools::unclean)
            .add(LONG, tools::uncleanWithoutLeader)
            .add("kafka-verifiable-producer", tools::verifiableProducer)
            .add("kafka-verifiable-consumer", tools::verifiableConsumer)
            .add("kafka-console-consumer", tools::consoleConsumer)
            .add("kafka-console-consumer --group", tools::consoleConsumerInAGroup).add("kafka-log-dirs", tools::logDirs)
            .add("kafka-dump-log", tools::dumpLog).add("kafka-dump-log --cluster-metadata-decoder", tools::dumpMetadata);
        int code = suite.run(args.length > 2 ? args[2] : null, Set.of(LONG));
        Runtime.getRuntime().halt(code);
    }
}
