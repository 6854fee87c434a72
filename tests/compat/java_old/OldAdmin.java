import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;

/** What every Java admin client since 0.11 can do. */
public final class OldAdmin {
    public static void main(String[] args) throws Exception {
        Map<String, Object> config = new HashMap<String, Object>();
        config.put("bootstrap.servers", args[0]);
        String topic = args[1] + "-admin-" + args[2];
        AdminClient admin = AdminClient.create(config);
        try {
            Collection<Node> nodes = admin.describeCluster().nodes().get();
            NewTopic wanted = new NewTopic(topic, 3, (short) 1);
            wanted.configs(Collections.singletonMap("retention.ms", "3600000"));
            admin.createTopics(Arrays.asList(wanted)).all().get();
            TopicDescription described = admin.describeTopics(Arrays.asList(topic)).all().get().get(topic);
            check(nodes.size() == 1 && described.partitions().size() == 3, "described " + described);
            check(admin.listTopics().names().get().contains(topic), "not listed");
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            Config found = admin.describeConfigs(Arrays.asList(resource)).all().get().get(resource);
            check(found.get("retention.ms").value().equals("3600000"), "config " + found.get("retention.ms"));
            admin.deleteTopics(Arrays.asList(topic)).all().get();
        } finally {
            admin.close();
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }
}
