import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** What every Java producer since 0.8.2 can do: each codec, several records a request, offsets that count on. */
public final class OldProducer {
    private static final String[] CODECS = {"none", "gzip", "snappy", "lz4"};
    private static final int RECORDS = 25;

    public static void main(String[] args) throws Exception {
        String version = args[2];
        long expected = 0;
        for (String codec : CODECS) {
            Map<String, Object> config = new HashMap<String, Object>();
            config.put("bootstrap.servers", args[0]);
            config.put("acks", codec.equals("gzip") ? "1" : "all");
            config.put("linger.ms", "5");
            config.put("compression.type", codec);
            config.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
            config.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
            if (!version.startsWith("0.8.") && !version.startsWith("0.9.") && !version.startsWith("0.10.")) {
                config.put("enable.idempotence", codec.equals("gzip") ? "false" : "true");
            }
            KafkaProducer<String, String> producer = new KafkaProducer<String, String>(config);
            try {
                Future<RecordMetadata> last = null;
                for (int index = 0; index < RECORDS; index++) {
                    String value = version + " " + codec + " " + index;
                    last = producer.send(new ProducerRecord<String, String>(args[1] + "-own-" + version, 0, "k" + index, value));
                }
                expected += RECORDS;
                if (last.get().offset() != expected - 1) {
                    throw new IllegalStateException(codec + ": offset " + last.get().offset() + ", not " + (expected - 1));
                }
                producer.send(new ProducerRecord<String, String>(args[1], 0, version, version + " " + codec)).get();
            } finally {
                producer.close();
            }
        }
    }
}
