import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ProducerFencedException;

/** Transactions of Java producers since 0.11: commit, abort, offsets, and a zombie. */
public final class OldTransactions {
    public static void main(String[] args) throws Exception {
        String id = args[1] + "-txn-" + args[2];
        KafkaProducer<String, String> producer = producer(args[0], id);
        try {
            for (int round = 0; round < 4; round++) {
                producer.beginTransaction();
                for (int index = 0; index < 3; index++) {
                    producer.send(new ProducerRecord<String, String>(id, 0, "k", round + "." + index));
                }
                producer.sendOffsetsToTransaction(
                        Collections.singletonMap(new TopicPartition(id, 0), new OffsetAndMetadata(round)), id);
                if (round % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.flush();
                    producer.abortTransaction();
                }
            }
            KafkaProducer<String, String> successor = producer(args[0], id);
            try {
                producer.beginTransaction();
                producer.send(new ProducerRecord<String, String>(id, 0, "k", "zombie"));
                producer.commitTransaction();
                throw new IllegalStateException("the zombie committed");
            } catch (KafkaException expected) {
                // It wraps the error in another one if it was told before it came to commit.
                if (!(expected instanceof ProducerFencedException)
                        && !(expected.getCause() instanceof ProducerFencedException)) {
                    throw expected;
                }
                successor.beginTransaction();
                successor.send(new ProducerRecord<String, String>(id, 0, "k", "end"));
                successor.commitTransaction();
            } finally {
                successor.close();
            }
        } finally {
            producer.close();
        }
    }

    private static KafkaProducer<String, String> producer(String bootstrap, String id) {
        Map<String, Object> config = new HashMap<String, Object>();
        config.put("bootstrap.servers", bootstrap);
        config.put("transactional.id", id);
        config.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        config.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        KafkaProducer<String, String> producer = new KafkaProducer<String, String>(config);
        producer.initTransactions();
        return producer;
    }
}
