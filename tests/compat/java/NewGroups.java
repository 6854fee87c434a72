import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Groups of the new protocol (KIP-848). Arguments: bootstrap address, a fresh name. Prints ok. */
public final class NewGroups {
    private final String bootstrap;
    private final String name;
    private final List<KafkaConsumer<String, String>> alive = new ArrayList<>();
    private int read;

    private NewGroups(String bootstrap, String name) {
        this.bootstrap = bootstrap;
        this.name = name;
    }

    public static void main(String[] args) throws Exception {
        NewGroups work = new NewGroups(args[0], args[1]);
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", args[0]))) {
            admin.createTopics(Set.of(new NewTopic(work.name, 4, (short) 1))).all().get();
            work.run(admin);
        }
        System.out.println("ok");
    }

    private KafkaConsumer<String, String> join(String protocol, boolean pattern) {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("group.id", name);
        config.put("group.protocol", protocol);
        config.put("auto.offset.reset", "earliest");
        config.put("key.deserializer", StringDeserializer.class);
        config.put("value.deserializer", StringDeserializer.class);
        if (protocol.equals("classic")) {
            config.put("heartbeat.interval.ms", "300");
        }
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config);
        if (pattern) {
            consumer.subscribe(new SubscriptionPattern(name.substring(0, name.length() - 1) + ".*"));
        } else {
            consumer.subscribe(List.of(name));
        }
        alive.add(consumer);
        return consumer;
    }

    /** Polls all until `done`, and until every partition has exactly one owner. */
    private void settle(int partitions, String what, BooleanSupplier done) {
        long end = System.currentTimeMillis() + 90_000;
        while (System.currentTimeMillis() < end) {
            int owned = 0;
            Set<TopicPartition> all = new HashSet<>();
            for (KafkaConsumer<String, String> each : alive) {
                read += each.poll(Duration.ofMillis(50)).count();
                owned += each.assignment().size();
                all.addAll(each.assignment());
            }
            if (owned == partitions && all.size() == partitions && done.getAsBoolean()) {
                return;
            }
        }
        throw new AssertionError("not settled: " + what);
    }

    private boolean share(int each) {
        return alive.stream().allMatch(consumer -> consumer.assignment().size() == each);
    }

    private static void check(boolean right, String what) {
        if (!right) {
            throw new AssertionError(what);
        }
    }

    private void run(Admin admin) throws Exception {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("key.serializer", StringSerializer.class);
        config.put("value.serializer", StringSerializer.class);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(config)) {
            for (int i = 0; i < 100; i++) {
                producer.send(new ProducerRecord<>(name, i % 4, null, "v" + i));
            }
        }
        KafkaConsumer<String, String> first = join("consumer", false);
        settle(4, "one member", () -> read == 100);
        first.commitSync();
        join("consumer", true);
        settle(4, "two members", () -> share(2));
        ConsumerGroupDescription group =
            admin.describeConsumerGroups(List.of(name)).describedGroups().get(name).get();
        check(group.type() == GroupType.CONSUMER && group.members().size() == 2, "described as " + group);
        join("classic", false);
        settle(4, "a classic member among them", () -> alive.get(2).assignment().size() >= 1);
        admin.createPartitions(Map.of(name, NewPartitions.increaseTo(6))).all().get();
        settle(6, "more partitions", () -> share(2));
        alive.remove(0).close();
        alive.remove(0).close();
        settle(6, "the classic member alone", () -> true);
        check(read == 100, "read again: " + read);
        alive.remove(0).close();
        check(
            admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get().values().stream()
                .mapToLong(each -> each.offset()).sum() == 100, "offsets");
    }
}
