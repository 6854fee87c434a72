import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TransactionDescription;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Transactions as an application of today has them. Arguments: bootstrap address, a fresh name. Prints ok. */
public final class Transactions {
    private final String bootstrap;
    private final String name;
    private final TopicPartition zero;

    private Transactions(String bootstrap, String name) {
        this.bootstrap = bootstrap;
        this.name = name;
        this.zero = new TopicPartition(name, 0);
    }

    public static void main(String[] args) throws Exception {
        Transactions work = new Transactions(args[0], args[1]);
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", args[0]))) {
            admin.createTopics(Set.of(new NewTopic(work.name, 2, (short) 1))).all().get();
            work.commitAndAbort();
            work.consumeTransformProduce(admin);
            work.zombies(admin);
            work.fencedByAdmin(admin);
        }
        System.out.println("ok");
    }

    private KafkaProducer<String, String> producer(String id) {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("transactional.id", name + "-" + id);
        config.put("linger.ms", "5");
        config.put("key.serializer", StringSerializer.class);
        config.put("value.serializer", StringSerializer.class);
        KafkaProducer<String, String> producer = new KafkaProducer<>(config);
        producer.initTransactions();
        return producer;
    }

    private KafkaConsumer<String, String> consumer(String isolation) {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("group.id", name);
        config.put("isolation.level", isolation);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", "false");
        config.put("key.deserializer", StringDeserializer.class);
        config.put("value.deserializer", StringDeserializer.class);
        return new KafkaConsumer<>(config);
    }

    private List<String> read(String isolation, int count) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer(isolation)) {
            consumer.assign(List.of(zero));
            consumer.seekToBeginning(List.of(zero));
            long deadline = System.nanoTime() + 20_000_000_000L;
            while (values.size() < count && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    values.add(record.value());
                }
            }
            long end = consumer.endOffsets(List.of(zero)).get(zero);
            check(consumer.position(zero) == end, "position " + consumer.position(zero) + ", end " + end);
        }
        return values;
    }

    private void commitAndAbort() {
        try (KafkaProducer<String, String> producer = producer("a")) {
            for (int round = 0; round < 4; round++) {
                producer.beginTransaction();
                for (int index = 0; index < 3; index++) {
                    producer.send(new ProducerRecord<>(name, index % 2, "k", round + "." + index));
                }
                if (round % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.flush();
                    producer.abortTransaction();
                }
            }
            producer.beginTransaction();
            producer.abortTransaction();
            producer.beginTransaction();
            producer.commitTransaction();
        }
        check(read("read_committed", 4).equals(List.of("0.0", "0.2", "2.0", "2.2")), "committed");
        check(read("read_uncommitted", 8).size() == 8, "uncommitted");
    }

    private void consumeTransformProduce(Admin admin) throws Exception {
        try (KafkaProducer<String, String> producer = producer("ctp");
                KafkaConsumer<String, String> consumer = consumer("read_committed")) {
            consumer.subscribe(List.of(name));
            int seen = 0;
            while (seen < 6) {
                var records = consumer.poll(Duration.ofMillis(100));
                if (records.isEmpty()) {
                    continue;
                }
                producer.beginTransaction();
                Map<TopicPartition, OffsetAndMetadata> offsets = new java.util.HashMap<>();
                for (ConsumerRecord<String, String> record : records) {
                    seen++;
                    producer.send(new ProducerRecord<>(name + "-out", 0, "k", "got " + record.value()));
                    offsets.put(
                            new TopicPartition(record.topic(), record.partition()),
                            new OffsetAndMetadata(record.offset() + 1));
                }
                producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
                producer.commitTransaction();
            }
            Map<TopicPartition, OffsetAndMetadata> committed =
                    admin.listConsumerGroupOffsets(name).partitionsToOffsetAndMetadata().get();
            check(committed.size() == 2 && committed.get(zero).offset() > 0, "offsets " + committed);
        }
    }

    private void zombies(Admin admin) throws Exception {
        try (KafkaProducer<String, String> zombie = producer("z")) {
            zombie.beginTransaction();
            zombie.send(new ProducerRecord<>(name, 1, "k", "zombie")).get();
            try (KafkaProducer<String, String> successor = producer("z")) {
                successor.beginTransaction();
                successor.send(new ProducerRecord<>(name, 1, "k", "successor")).get();
                TransactionDescription open =
                        admin.describeTransactions(Set.of(name + "-z")).description(name + "-z").get();
                check(open.state() == TransactionState.ONGOING, "state " + open);
                try {
                    zombie.commitTransaction();
                    throw new IllegalStateException("the zombie committed");
                } catch (ProducerFencedException | InvalidProducerEpochException expected) {
                    successor.commitTransaction();
                }
            }
        }
    }

    private void fencedByAdmin(Admin admin) throws Exception {
        try (KafkaProducer<String, String> producer = producer("f")) {
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(name, 1, "k", "late")).get();
            admin.fenceProducers(Set.of(name + "-f")).all().get();
            try {
                producer.commitTransaction();
                throw new IllegalStateException("committed after it was fenced");
            } catch (KafkaException expected) {
                check(admin.listTransactions().all().get().size() >= 4, "listed");
            }
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }
}
