import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** An everyday's work of Apache Kafka's Java clients. Arguments: bootstrap address, a fresh name. Prints ok. */
public final class Everyday {
    private static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");
    private static final Duration POLL = Duration.ofMillis(100);
    private final String bootstrap;
    private final String name;
    private final TopicPartition zero;
    private final TopicPartition one;
    private final Admin admin;

    private Everyday(String bootstrap, String name) {
        this.bootstrap = bootstrap;
        this.name = name;
        this.zero = new TopicPartition(name, 0);
        this.one = new TopicPartition(name, 1);
        this.admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrap));
    }

    public static void main(String[] args) throws Exception {
        Everyday day = new Everyday(args[0], args[1]);
        try (Admin admin = day.admin) {
            day.createAndDescribe();
            day.configs();
            day.everyCompression();
            day.seekByTime();
            day.groupRebalanceCommitResume();
            day.groupsInAdmin();
            day.recordsAndLogDirs();
            day.growAndDelete();
        }
        System.out.println("ok");
    }

    private static void check(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(String.valueOf(what));
        }
    }

    private static void until(BooleanSupplier condition, String what) {
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (!condition.getAsBoolean()) {
            check(System.nanoTime() < deadline, "never: " + what);
        }
    }

    private static void refused(Class<? extends Exception> kind, org.apache.kafka.common.KafkaFuture<?> future)
            throws InterruptedException {
        try {
            future.get();
        } catch (ExecutionException e) {
            check(kind.isInstance(e.getCause()), e.getCause());
            return;
        }
        throw new AssertionError("not refused: " + kind);
    }

    private void createAndDescribe() throws Exception {
        NewTopic topic = new NewTopic(name, 2, (short) 1).configs(Map.of("retention.ms", "3600000"));
        var created = admin.createTopics(List.of(topic));
        created.all().get();
        check(created.numPartitions(name).get() == 2, "partitions in the answer");
        check(created.config(name).get().get("retention.ms").value().equals("3600000"), "config in the answer");
        refused(TopicExistsException.class, admin.createTopics(List.of(topic)).all());
        TopicDescription described = admin.describeTopics(List.of(name)).allTopicNames().get().get(name);
        check(described.partitions().size() == 2, described);
        check(described.topicId().equals(created.topicId(name).get()), "topic ids agree");
        check(admin.listTopics().names().get().contains(name), "listed");
        var cluster = admin.describeCluster();
        check(cluster.nodes().get().size() == 1, "one node");
        check(cluster.controller().get().id() == cluster.nodes().get().iterator().next().id(), "the controller");
        check(admin.describeFeatures().featureMetadata().get().finalizedFeatures().containsKey("metadata.version"),
                "metadata.version");
        check(admin.describeMetadataQuorum().quorumInfo().get().voters().size() == 1, "one voter");
    }

    private void configs() throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, name);
        List<AlterConfigOp> change = List.of(
                new AlterConfigOp(new ConfigEntry("retention.ms", "7200000"), AlterConfigOp.OpType.SET),
                new AlterConfigOp(new ConfigEntry("cleanup.policy", "compact"), AlterConfigOp.OpType.APPEND));
        admin.incrementalAlterConfigs(Map.of(resource, change)).all().get();
        var configs = admin.describeConfigs(List.of(resource)).all().get().get(resource);
        check(configs.get("retention.ms").value().equals("7200000"), configs.get("retention.ms"));
        check(Set.of("delete,compact", "compact,delete").contains(configs.get("cleanup.policy").value()), configs);
        check(configs.get("retention.ms").source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, configs);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(
                new AlterConfigOp(new ConfigEntry("cleanup.policy", ""), AlterConfigOp.OpType.DELETE)))).all().get();
        String id = String.valueOf(admin.describeCluster().nodes().get().iterator().next().id());
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, id);
        check(admin.describeConfigs(List.of(broker)).all().get().get(broker).get("log.retention.hours") != null,
                "broker configs");
    }

    private KafkaProducer<String, String> producer(String codec) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("compression.type", codec);
        settings.put("linger.ms", "20");
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private void produce(TopicPartition partition, String... values) {
        try (KafkaProducer<String, String> producer = producer("none")) {
            for (String value : values) {
                producer.send(new ProducerRecord<>(name, partition.partition(), "k", value));
            }
        }
    }

    private KafkaConsumer<String, String> consumer(String strategy) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("group.id", name);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("session.timeout.ms", "6000");
        settings.put("heartbeat.interval.ms", "200");
        settings.put("partition.assignment.strategy", strategy);
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    private KafkaConsumer<String, String> consumer() {
        return consumer("org.apache.kafka.clients.consumer.RangeAssignor");
    }

    private static List<ConsumerRecord<String, String>> take(KafkaConsumer<String, String> consumer, int count) {
        List<ConsumerRecord<String, String>> records = new ArrayList<>();
        until(() -> {
            consumer.poll(POLL).forEach(records::add);
            return records.size() >= count;
        }, count + " records");
        check(records.size() == count, records);
        return records;
    }

    private static Set<String> values(Collection<ConsumerRecord<String, String>> records) {
        Set<String> values = new TreeSet<>();
        records.forEach(r -> values.add(r.value()));
        return values;
    }

    private void everyCompression() throws Exception {
        int offset = 0;
        for (String codec : CODECS) {
            try (KafkaProducer<String, String> producer = producer(codec)) {
                List<java.util.concurrent.Future<org.apache.kafka.clients.producer.RecordMetadata>> sent =
                        new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    ProducerRecord<String, String> record =
                            new ProducerRecord<>(name, 0, "k" + i, codec + "-" + i + "x".repeat(50));
                    record.headers().add("codec", codec.getBytes(StandardCharsets.UTF_8));
                    sent.add(producer.send(record));
                }
                producer.flush();
                for (var future : sent) {
                    check(future.get().offset() == offset++, "offset " + offset);
                }
            }
        }
        try (KafkaConsumer<String, String> consumer = consumer()) {
            consumer.assign(List.of(zero));
            consumer.seekToBeginning(List.of(zero));
            List<ConsumerRecord<String, String>> records = take(consumer, 50);
            for (int i = 0; i < 50; i++) {
                ConsumerRecord<String, String> record = records.get(i);
                String codec = CODECS.get(i / 10);
                check(record.offset() == i && record.key().equals("k" + i % 10), record);
                check(record.value().equals(codec + "-" + i % 10 + "x".repeat(50)), record);
                check(new String(record.headers().lastHeader("codec").value(), StandardCharsets.UTF_8).equals(codec),
                        record);
            }
            check(consumer.endOffsets(List.of(zero)).get(zero) == 50, "end");
            check(consumer.beginningOffsets(List.of(zero)).get(zero) == 0, "beginning");
        }
    }

    private void seekByTime() {
        long base = System.currentTimeMillis() - 60_000;
        try (KafkaProducer<String, String> producer = producer("none")) {
            for (int i = 0; i < 5; i++) {
                producer.send(new ProducerRecord<>(name, 1, base + 1000L * i, "k", "t" + i));
                producer.flush();
            }
        }
        try (KafkaConsumer<String, String> consumer = consumer()) {
            consumer.assign(List.of(one));
            OffsetAndTimestamp found = consumer.offsetsForTimes(Map.of(one, base + 1500)).get(one);
            check(found.offset() == 2 && found.timestamp() == base + 2000, found);
            check(consumer.offsetsForTimes(Map.of(one, base + 1_000_000)).get(one) == null, "beyond the end");
            consumer.seek(one, found.offset());
            check(values(take(consumer, 3)).equals(Set.of("t2", "t3", "t4")), "after the seek");
        }
    }

    private void groupRebalanceCommitResume() {
        String cooperative = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor";
        try (KafkaConsumer<String, String> first = consumer(cooperative)) {
            first.subscribe(List.of(name));
            take(first, 55);
            first.commitSync();
            try (KafkaConsumer<String, String> second = consumer(cooperative)) {
                second.subscribe(List.of(name));
                until(() -> {
                    check(first.poll(POLL).isEmpty() && second.poll(POLL).isEmpty(), "committed records came again");
                    return first.assignment().size() == 1 && second.assignment().size() == 1;
                }, "the partitions shared by two members");
                check(!first.assignment().equals(second.assignment()), "one each");
                produce(zero, "new-0");
                produce(one, "new-1");
                List<ConsumerRecord<String, String>> got = new ArrayList<>(take(first, 1));
                got.addAll(take(second, 1));
                check(values(got).equals(Set.of("new-0", "new-1")), got);
                first.commitSync();
            }
            check(take(first, 1).size() == 1, "the record that the second member did not commit");
            first.commitSync();
        }
        try (KafkaConsumer<String, String> third = consumer()) {
            third.subscribe(List.of(name));
            until(() -> third.poll(POLL).isEmpty() && third.assignment().size() == 2, "both partitions");
            produce(one, "last");
            check(values(take(third, 1)).equals(Set.of("last")), "resumed");
            third.commitSync();
            check(third.committed(Set.of(zero, one)).get(one).offset() == 7, "committed");
        }
    }

    private void groupsInAdmin() throws Exception {
        check(admin.listGroups().all().get().stream().anyMatch(g -> g.groupId().equals(name)), "listed");
        ConsumerGroupDescription described = admin.describeConsumerGroups(List.of(name)).all().get().get(name);
        check(described.groupState().toString().equals("Empty"), described);
        Map<TopicPartition, OffsetAndMetadata> offsets =
                admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get();
        check(offsets.get(zero).offset() == 51 && offsets.get(one).offset() == 7, offsets);
        admin.alterConsumerGroupOffsets(name, Map.of(zero, new OffsetAndMetadata(3, "moved"))).all().get();
        offsets = admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get();
        check(offsets.get(zero).offset() == 3 && offsets.get(zero).metadata().equals("moved"), offsets);
        admin.deleteConsumerGroupOffsets(name, Set.of(zero)).all().get();
        offsets = admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get();
        check(offsets.get(zero) == null && offsets.get(one).offset() == 7, offsets);
        admin.deleteConsumerGroups(List.of(name)).all().get();
        check(admin.listGroups().all().get().stream().noneMatch(g -> g.groupId().equals(name)), "deleted");
    }

    private void recordsAndLogDirs() throws Exception {
        var deleted = admin.deleteRecords(Map.of(zero, RecordsToDelete.beforeOffset(20)));
        check(deleted.lowWatermarks().get(zero).get().lowWatermark() == 20, "low watermark");
        var earliest = admin.listOffsets(Map.of(zero, OffsetSpec.earliest())).partitionResult(zero).get();
        var latest = admin.listOffsets(Map.of(zero, OffsetSpec.latest())).partitionResult(zero).get();
        var youngest = admin.listOffsets(Map.of(one, OffsetSpec.maxTimestamp())).partitionResult(one).get();
        check(earliest.offset() == 20 && latest.offset() == 51, earliest + " " + latest);
        check(youngest.offset() == 6, youngest);
        int id = admin.describeCluster().nodes().get().iterator().next().id();
        var dirs = admin.describeLogDirs(List.of(id)).allDescriptions().get().get(id);
        check(dirs.values().stream().anyMatch(d -> d.replicaInfos().containsKey(zero)), dirs);
        var producers = admin.describeProducers(List.of(one)).partitionResult(one).get();
        check(!producers.activeProducers().isEmpty(), "active producers");
    }

    private void growAndDelete() throws Exception {
        admin.createPartitions(Map.of(name, NewPartitions.increaseTo(4))).all().get();
        until(() -> {
            try {
                return admin.describeTopics(List.of(name)).allTopicNames().get().get(name).partitions().size() == 4;
            } catch (InterruptedException | ExecutionException e) {
                throw new AssertionError(e);
            }
        }, "four partitions");
        admin.deleteTopics(List.of(name)).all().get();
        refused(UnknownTopicOrPartitionException.class, admin.deleteTopics(List.of(name)).all());
    }
}
