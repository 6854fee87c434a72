import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** What every Java consumer since 0.9 can do: read its own and newer records, in a group that commits and resumes. */
public final class OldConsumer {
    private static final long PATIENCE_MS = 30000;

    public static void main(String[] args) throws Exception {
        String own = args[1] + "-own-" + args[2];
        List<ConsumerRecord<String, String>> seen = read(args[0], own, args[2], 100, true);
        for (int index = 0; index < seen.size(); index++) {
            ConsumerRecord<String, String> record = seen.get(index);
            if (record.offset() != index || !record.key().equals("k" + index % 25)
                    || !record.value().endsWith(" " + index % 25)) {
                throw new IllegalStateException("at " + index + ": " + record);
            }
        }
        if (read(args[0], own, args[2], 0, true).size() != 0) {
            throw new IllegalStateException("the commit was lost");
        }
        List<ConsumerRecord<String, String>> shared = read(args[0], args[1], args[2], 40 + 4, false);
        for (int index = 0; index < 40; index++) {
            ConsumerRecord<String, String> record = shared.get(index);
            if (record.offset() != index || !record.value().equals("new " + index)) {
                throw new IllegalStateException("at " + index + ": " + record);
            }
        }
    }

    private static List<ConsumerRecord<String, String>> read(
            String bootstrap, String topic, String version, int count, boolean group) throws Exception {
        Map<String, Object> config = new HashMap<String, Object>();
        config.put("bootstrap.servers", bootstrap);
        config.put("group.id", "old-" + topic + "-" + version);
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "earliest");
        config.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        config.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        KafkaConsumer<String, String> consumer = new KafkaConsumer<String, String>(config);
        List<ConsumerRecord<String, String>> seen = new ArrayList<ConsumerRecord<String, String>>();
        try {
            TopicPartition zero = new TopicPartition(topic, 0);
            if (group) {
                consumer.subscribe(Arrays.asList(topic));
            } else {
                consumer.assign(Arrays.asList(zero));
                consumer.seek(zero, 0);
                List<PartitionInfo> partitions = consumer.partitionsFor(topic);
                if (partitions.isEmpty()) {
                    throw new IllegalStateException("no partitions");
                }
            }
            long end = System.currentTimeMillis() + PATIENCE_MS;
            while (seen.size() < count || (group && consumer.assignment().isEmpty())) {
                if (System.currentTimeMillis() > end) {
                    throw new IllegalStateException("only " + seen.size() + " of " + count + " records");
                }
                for (ConsumerRecord<String, String> record : consumer.poll(100)) {
                    seen.add(record);
                }
            }
            if (group) {
                if (count == 0 && consumer.position(zero) != 100) {
                    throw new IllegalStateException("resumed at " + consumer.position(zero));
                }
                consumer.commitSync();
            }
        } finally {
            consumer.close();
        }
        return seen;
    }
}
