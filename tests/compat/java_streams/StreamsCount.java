import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.TimeWindows;

/**
 * A Kafka Streams application over NAME-in (key, number as text): counts by key through a repartition topic into
 * NAME-counts, and sums by key and minute (of the records' own times) into NAME-sums. Every record that comes in
 * makes one record in each, so that what came out tells how often each record was counted.
 *
 * Arguments: bootstrap address, application id NAME, then settings as name=value. Prints the state it is in.
 * SIGTERM closes it.
 */
public final class StreamsCount {
    private StreamsCount() {
    }

    public static void main(String[] args) throws Exception {
        Properties config = new Properties();
        config.put("bootstrap.servers", args[0]);
        config.put("application.id", args[1]);
        config.put("default.key.serde", Serdes.StringSerde.class);
        config.put("default.value.serde", Serdes.StringSerde.class);
        config.put("dsl.store.suppliers.class",
                "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers");
        config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
        config.put("commit.interval.ms", "100");
        config.put("consumer.session.timeout.ms", "6000");
        config.put("consumer.heartbeat.interval.ms", "500");
        config.put("consumer.auto.offset.reset", "earliest");
        for (int i = 2; i < args.length; i++) {
            int at = args[i].indexOf('=');
            config.put(args[i].substring(0, at), args[i].substring(at + 1));
        }
        KafkaStreams streams = new KafkaStreams(topology(args[1]), config);
        CountDownLatch over = new CountDownLatch(1);
        streams.setStateListener((now, before) -> {
            System.out.println(now);
            if (now == KafkaStreams.State.ERROR) {
                over.countDown();
            }
        });
        streams.setUncaughtExceptionHandler(problem -> {
            problem.printStackTrace();
            return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            streams.close(Duration.ofSeconds(20));
            System.out.println("closed");
        }));
        streams.start();
        over.await();
    }

    private static org.apache.kafka.streams.Topology topology(String name) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> in = builder.stream(name + "-in", Consumed.with(Serdes.String(), Serdes.String()));
        in.map((key, value) -> KeyValue.pair("by-" + key, value))
                .groupByKey()
                .count(Materialized.as("counts"))
                .toStream()
                .to(name + "-counts", Produced.with(Serdes.String(), Serdes.Long()));
        in.groupByKey()
                .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), Duration.ofDays(1)))
                .aggregate(() -> 0L, (key, value, sum) -> sum + Long.parseLong(value),
                        Materialized.<String, Long, org.apache.kafka.streams.state.WindowStore<
                                org.apache.kafka.common.utils.Bytes, byte[]>>as("sums")
                                .withValueSerde(Serdes.Long()))
                .toStream((window, sum) -> window.key() + "@" + window.window().start())
                .to(name + "-sums", Produced.with(Serdes.String(), Serdes.Long()));
        return builder.build();
    }
}
