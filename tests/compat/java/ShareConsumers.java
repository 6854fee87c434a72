import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ShareGroupDescription;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Share groups (KIP-932). Arguments: bootstrap address, a fresh name, and what to do: "begin", then "end" (a
 * crash of the broker may lie in between), then "share"; or "dead" (KIP-1191). Prints ok.
 */
public final class ShareConsumers {
    private static final int COUNT = 100;
    private final String bootstrap;
    private final String name;

    private ShareConsumers(String bootstrap, String name) {
        this.bootstrap = bootstrap;
        this.name = name;
    }

    public static void main(String[] args) throws Exception {
        ShareConsumers work = new ShareConsumers(args[0], args[1]);
        if (args[2].equals("end")) {
            work.end();
        } else if (args[2].equals("share")) {
            work.twoAtOnce();
        } else if (args[2].equals("dead")) {
            work.dead();
        } else {
            work.begin();
        }
        System.out.println("ok");
    }

    private KafkaShareConsumer<String, String> join(String mode) {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("group.id", name);
        config.put("share.acknowledgement.mode", mode);
        config.put("key.deserializer", StringDeserializer.class);
        config.put("value.deserializer", StringDeserializer.class);
        KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(config);
        consumer.subscribe(List.of(name));
        return consumer;
    }

    private void produce(int from, int to) throws Exception {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("key.serializer", StringSerializer.class);
        config.put("value.serializer", StringSerializer.class);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(config)) {
            for (int at = from; at < to; at++) {
                producer.send(new ProducerRecord<>(name, 0, null, String.valueOf(at)));
            }
            producer.flush();
        }
    }

    /** Of every ten records one is rejected, one is released, the others are accepted; the consumer goes. */
    private void begin() throws Exception {
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap))) {
            admin.createTopics(Set.of(new NewTopic(name, 1, (short) 1))).all().get();
            ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, name);
            AlterConfigOp earliest =
                new AlterConfigOp(new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET);
            admin.incrementalAlterConfigs(Map.of(group, List.of(earliest))).all().get();
        }
        produce(0, COUNT);
        Set<Integer> seen = new TreeSet<>();
        try (KafkaShareConsumer<String, String> consumer = join("explicit")) {
            long end = System.currentTimeMillis() + 30_000;
            while (seen.size() < COUNT && System.currentTimeMillis() < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                    int value = Integer.parseInt(record.value());
                    short deliveries = record.deliveryCount().orElse((short) 0);
                    if (deliveries == 1) {
                        check(seen.add(value), "twice: " + value);
                        consumer.acknowledge(record, first(value));
                    } else {
                        consumer.acknowledge(record, AcknowledgeType.RELEASE);
                    }
                }
                consumer.commitSync().forEach((partition, error) -> check(error.isEmpty(), "refused: " + error));
            }
        }
        check(seen.size() == COUNT, "seen " + seen.size());
    }

    /** Rejected records, and those that nobody takes, turn up in the group's topic for dead letters. */
    private void dead() throws Exception {
        String letters = "dlq." + name;
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap))) {
            NewTopic topic = new NewTopic(letters, 1, (short) 1);
            topic.configs(Map.of("errors.deadletterqueue.group.enable", "true"));
            admin.createTopics(Set.of(new NewTopic(name, 1, (short) 1), topic)).all().get();
            List<AlterConfigOp> settings = new ArrayList<>();
            Map.of(
                "share.auto.offset.reset", "earliest",
                "share.delivery.count.limit", "2",
                "errors.deadletterqueue.topic.name", letters,
                "errors.deadletterqueue.copy.record.enable", "true"
            ).forEach((key, value) ->
                settings.add(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET)));
            ConfigResource group = new ConfigResource(ConfigResource.Type.GROUP, name);
            admin.incrementalAlterConfigs(Map.of(group, settings)).all().get();
        }
        produce(0, COUNT);
        long end = System.currentTimeMillis() + 60_000;
        int accepted = 0;
        try (KafkaShareConsumer<String, String> consumer = join("explicit");
                KafkaConsumer<String, String> reader = new KafkaConsumer<>(fromTheStart())) {
            reader.assign(List.of(new TopicPartition(letters, 0)));
            Map<Integer, String> found = new TreeMap<>();
            while (found.size() < COUNT / 5 && System.currentTimeMillis() < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    AcknowledgeType type = first(Integer.parseInt(record.value()));
                    accepted += type == AcknowledgeType.ACCEPT ? 1 : 0;
                    consumer.acknowledge(record, type);
                }
                consumer.commitSync();
                for (ConsumerRecord<String, String> record : reader.poll(Duration.ofMillis(200))) {
                    String message = new String(record.headers().lastHeader("__dlq.errors.message").value());
                    String offset = new String(record.headers().lastHeader("__dlq.errors.offset").value());
                    check(offset.equals(record.value()), "offset " + offset + " of " + record.value());
                    check(found.put(Integer.parseInt(record.value()), message) == null, "twice: " + record);
                }
            }
            check(found.size() == COUNT / 5, "dead letters: " + found);
            found.forEach((value, message) -> check(
                message.equals(value % 10 == 7 ? "Offset rejected by client."
                    : "Offset delivery count exceeded the threshold."), "dead letters: " + found));
        }
        check(accepted == COUNT * 8 / 10, "accepted " + accepted);
    }

    private Properties fromTheStart() {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("auto.offset.reset", "earliest");
        config.put("key.deserializer", StringDeserializer.class);
        config.put("value.deserializer", StringDeserializer.class);
        return config;
    }

    private static AcknowledgeType first(int value) {
        return value % 10 == 3 ? AcknowledgeType.RELEASE
            : value % 10 == 7 ? AcknowledgeType.REJECT : AcknowledgeType.ACCEPT;
    }

    /** What was released comes again, and nothing else. */
    private void end() throws Exception {
        Map<Integer, Short> seen = new TreeMap<>();
        try (KafkaShareConsumer<String, String> consumer = join("implicit")) {
            long end = System.currentTimeMillis() + 30_000;
            while (seen.size() < COUNT / 10 && System.currentTimeMillis() < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                    seen.put(Integer.parseInt(record.value()), record.deliveryCount().orElse((short) 0));
                }
            }
            consumer.commitSync();
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                seen.put(Integer.parseInt(record.value()), (short) -1);
            }
        }
        check(seen.size() == COUNT / 10, "came again: " + seen);
        seen.forEach((value, deliveries) -> check(value % 10 == 3 && deliveries >= 2, "came again: " + seen));
    }

    /** Two consumers share one partition: every record goes to one of them. */
    private void twoAtOnce() throws Exception {
        List<Integer> seen = new ArrayList<>();
        try (KafkaShareConsumer<String, String> one = join("implicit");
                KafkaShareConsumer<String, String> other = join("implicit");
                Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap))) {
            long end = System.currentTimeMillis() + 30_000;
            one.poll(Duration.ofMillis(100));
            other.poll(Duration.ofMillis(100));
            produce(1000, 1000 + COUNT);
            while (seen.size() < COUNT && System.currentTimeMillis() < end) {
                for (KafkaShareConsumer<String, String> consumer : List.of(one, other)) {
                    for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                        seen.add(Integer.parseInt(record.value()));
                    }
                }
            }
            one.commitSync();
            other.commitSync();
            ShareGroupDescription group = admin.describeShareGroups(List.of(name)).all().get().get(name);
            check(group.members().size() == 2, "members: " + group);
        }
        check(seen.size() == COUNT && new TreeSet<>(seen).size() == COUNT, "shared: " + seen);
    }

    private static void check(boolean good, String what) {
        if (!good) {
            throw new AssertionError(what);
        }
    }
}
