import java.io.FileInputStream;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A record there and back by each way to log in. Arguments: topic, then files of client settings, in which those of
 * the JVM begin with "system."; with "send:" in front of a file the record is sent only. Prints ok.
 */
public final class Logins {
    private Logins() {}

    public static void main(String[] args) throws Exception {
        String topic = args[0];
        for (int i = 1; i < args.length; i++) {
            Properties settings = new Properties();
            boolean sendOnly = args[i].startsWith("send:");
            try (FileInputStream in = new FileInputStream(args[i].replaceFirst("^send:", ""))) {
                settings.load(in);
            }
            for (String name : settings.stringPropertyNames()) {
                if (name.startsWith("system.")) {
                    System.setProperty(name.substring("system.".length()), settings.getProperty(name));
                    settings.remove(name);
                }
            }
            long offset;
            try (KafkaProducer<String, String> producer =
                    new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
                offset = producer.send(new ProducerRecord<>(topic, 0, "k", args[i])).get().offset();
            }
            if (sendOnly) {
                continue;
            }
            TopicPartition zero = new TopicPartition(topic, 0);
            try (KafkaConsumer<String, String> consumer =
                    new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
                consumer.assign(List.of(zero));
                consumer.seek(zero, offset);
                var records = consumer.poll(Duration.ofSeconds(60)).records(zero);
                if (records.isEmpty() || !records.get(0).value().equals(args[i])) {
                    throw new AssertionError("not what was sent, with " + args[i]);
                }
            }
        }
        System.out.println("ok");
    }
}
