import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import kafka.api.ConsumerMetadataRequest;
import kafka.api.FetchRequest;
import kafka.api.FetchRequestBuilder;
import kafka.api.PartitionOffsetRequestInfo;
import kafka.common.OffsetAndMetadata;
import kafka.common.OffsetMetadataAndError;
import kafka.common.TopicAndPartition;
import kafka.javaapi.ConsumerMetadataResponse;
import kafka.javaapi.FetchResponse;
import kafka.javaapi.OffsetCommitRequest;
import kafka.javaapi.OffsetCommitResponse;
import kafka.javaapi.OffsetFetchRequest;
import kafka.javaapi.OffsetFetchResponse;
import kafka.javaapi.OffsetRequest;
import kafka.javaapi.OffsetResponse;
import kafka.javaapi.TopicMetadata;
import kafka.javaapi.TopicMetadataRequest;
import kafka.javaapi.consumer.SimpleConsumer;
import kafka.message.MessageAndOffset;
import kafka.network.BlockingChannel;

/** The consumer of 0.8 that needs no ZooKeeper: metadata, offsets, fetches, commits of version 1. */
public final class SimpleConsumer08 {
    public static void main(String[] args) throws Exception {
        int colon = args[0].lastIndexOf(':');
        String host = args[0].substring(0, colon);
        int port = Integer.parseInt(args[0].substring(colon + 1));
        String own = args[1] + "-own-" + args[2];
        SimpleConsumer consumer = new SimpleConsumer(host, port, 30000, 64 * 1024, "old");
        try {
            TopicMetadataRequest request = new TopicMetadataRequest(Arrays.asList(own));
            List<TopicMetadata> metadata = consumer.send(request).topicsMetadata();
            check(metadata.get(0).partitionsMetadata().get(0).leader().port() == port, "leader elsewhere");
            check(offset(consumer, own, kafka.api.OffsetRequest.EarliestTime()) == 0, "earliest");
            check(offset(consumer, own, kafka.api.OffsetRequest.LatestTime()) == 100, "latest");
            read(consumer, own, 100, "");
            read(consumer, args[1], 40, "new ");
        } finally {
            consumer.close();
        }
        commit(host, port, own, "old-" + own);
    }

    private static long offset(SimpleConsumer consumer, String topic, long time) {
        Map<TopicAndPartition, PartitionOffsetRequestInfo> wanted = new HashMap<TopicAndPartition, PartitionOffsetRequestInfo>();
        wanted.put(new TopicAndPartition(topic, 0), new PartitionOffsetRequestInfo(time, 1));
        OffsetResponse response = consumer.getOffsetsBefore(
                new OffsetRequest(wanted, kafka.api.OffsetRequest.CurrentVersion(), "old"));
        check(!response.hasError(), "offsets: error " + response.errorCode(topic, 0));
        return response.offsets(topic, 0)[0];
    }

    private static void read(SimpleConsumer consumer, String topic, int count, String prefix) throws Exception {
        int next = 0;
        while (next < count) {
            FetchRequest request = new FetchRequestBuilder().clientId("old").addFetch(topic, 0, next, 4000)
                    .maxWait(5000).minBytes(1).build();
            FetchResponse response = consumer.fetch(request);
            check(!response.hasError(), "fetch: error " + response.errorCode(topic, 0));
            int before = next;
            for (MessageAndOffset message : response.messageSet(topic, 0)) {
                if (message.offset() < next || next == count) {
                    continue; // a compressed set comes whole; behind the last there may be others' messages
                }
                check(message.offset() == next, "offset " + message.offset() + ", not " + next);
                ByteBuffer payload = message.message().payload();
                byte[] bytes = new byte[payload.remaining()];
                payload.get(bytes);
                String value = new String(bytes, "UTF-8");
                check(prefix.isEmpty() ? value.endsWith(" " + next % 25) : value.equals(prefix + next), value);
                next++;
            }
            check(next > before, "nothing at " + next);
        }
    }

    private static void commit(String host, int port, String topic, String group) throws Exception {
        TopicAndPartition zero = new TopicAndPartition(topic, 0);
        BlockingChannel channel = new BlockingChannel(
                host, port, BlockingChannel.UseDefaultBufferSize(), BlockingChannel.UseDefaultBufferSize(), 30000);
        channel.connect();
        try {
            Map<TopicAndPartition, OffsetAndMetadata> offsets = new LinkedHashMap<TopicAndPartition, OffsetAndMetadata>();
            offsets.put(zero, new OffsetAndMetadata(42, "note", -1L));
            long end = System.currentTimeMillis() + 30000;
            while (true) {
                channel.send(new ConsumerMetadataRequest(group, (short) 0, 3, "old"));
                ConsumerMetadataResponse coordinator = ConsumerMetadataResponse.readFrom(channel.receive().buffer());
                if (coordinator.errorCode() != 0) { // 15: the coordinator is still being made
                    check(System.currentTimeMillis() < end, "coordinator: error " + coordinator.errorCode());
                    Thread.sleep(100);
                    continue;
                }
                check(coordinator.coordinator().port() == port, "coordinator elsewhere");
                channel.send(new OffsetCommitRequest(group, offsets, 1, "old", (short) 1).underlying());
                OffsetCommitResponse committed = OffsetCommitResponse.readFrom(channel.receive().buffer());
                if (!committed.hasError()) {
                    break;
                }
                check(System.currentTimeMillis() < end, "commit: error " + committed.errorCode(zero));
                Thread.sleep(100);
            }
            channel.send(new OffsetFetchRequest(group, Collections.singletonList(zero), (short) 1, 2, "old").underlying());
            OffsetMetadataAndError found = OffsetFetchResponse.readFrom(channel.receive().buffer()).offsets().get(zero);
            check(found.offset() == 42 && found.metadata().equals("note"), "fetched " + found);
        } finally {
            channel.disconnect();
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }
}
