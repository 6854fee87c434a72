"""Settings that only kbroker has; all begin with `kbroker.`. The notation is explained in `definition.py`."""

_RELEASES = (
    "all,4.4,4.3,4.2,4.1,4.0,3.9,3.8,3.7,3.6,3.5,3.4,3.3,3.2,3.1,3.0,2.8,"
    "2.7,2.6,2.5,2.4,2.3,2.2,2.1,2.0,1.1,1.0,0.11.0,0.10.2,0.10.1,0.10.0,0.9.0,0.8.2"
)

TABLE = """\
kbroker.advertised.host | string | null | not blank | ro | obeyed
    The name told to clients for a listener on all interfaces; the machine's own if unset.
kbroker.audit.log | string | null | not blank | ro | obeyed
    A file that gets a line of JSON for each decision on what somebody may do: denials, and what
    kbroker.audit.log.allowed names; and logins.
kbroker.audit.log.allowed | list | CREATE,DELETE,ALTER,ALTER_CONFIGS | no empty items | ro | obeyed
    Operations of which the audit log tells also that they were allowed; ALL: every one.
kbroker.audit.log.max.bytes | long | 67108864 | >=1024 | ro | obeyed
    The size from which on a new file is begun.
kbroker.audit.log.max.files | int | 10 | >=1 | ro | obeyed
    How many files of the audit log there are at most.
kbroker.authorizer.addresses | list |  | no empty items | ro | obeyed
    Addresses and networks (10.0.0.0/8) whose clients may do all, if kbroker.authorizers names addresses.
kbroker.authorizer.http.cache.ms | long | 30000 | >=1000 | ro | obeyed
    How long an answer of the HTTP authorizer holds.
kbroker.authorizer.http.on.failure | string | deny | in deny,allow,next | ro | obeyed
    What holds when the HTTP authorizer does not answer; next: the next one of kbroker.authorizers decides.
kbroker.authorizer.http.timeout.ms | int | 2000 | >=1 | ro | obeyed
    How long the HTTP authorizer may take to answer.
kbroker.authorizer.http.url | string | null | not blank | ro | obeyed
    Where the HTTP authorizer is asked, http:// or https://.
kbroker.authorizers | list |  | of addresses,http,acls | ro | obeyed
    Who decides what a client may do, in this order, until one has an opinion; who is allowed by nobody is
    denied. Only acls if authorizer.class.name is set and this is not.
kbroker.auto.create.wait | boolean | false | - | ro | obeyed
    Whether Metadata waits for a topic that it creates, instead of saying first, as Kafka does, that it is
    unknown.
kbroker.client.metrics | boolean | false | - | ro | obeyed
    Whether ApiVersions offers clients to push their metrics (KIP-714), and those are kept; if not, pushes
    are answered and forgotten, as by a Kafka without a receiver for them.
kbroker.client.metrics.file | string | null | not blank | ro | obeyed
    A file that gets a line of JSON for each push; at 64 MiB it becomes FILE.1 and a new one is begun.
kbroker.cluster.id | string | null | not blank | ro | obeyed
    The id that a new cluster gets and an old one must have; a random one if unset.
kbroker.compatibility | string | all | in @RELEASES@ | ro | obeyed
    The release of Apache Kafka whose API versions and defaults clients see; `all`: every
    version, and the newest defaults.
kbroker.encryption.keys.command | string | null | not blank | ro | obeyed
    A command that gets the id of a key as its last argument and prints the key, as a file of keys has it: for
    keys that a key management service keeps.
kbroker.encryption.keys.command.timeout.ms | int | 10000 | >=1 | ro | obeyed
    How long that command may take.
kbroker.encryption.keys.file | string | null | not blank | ro | obeyed
    The file of the keys with which batches are encrypted on the disk: id, space, 32 bytes in base64 or
    hexadecimal digits, one a line.
kbroker.encryption.topics | list |  | topic=key items | cluster | obeyed
    The topics that are, each as topic=key or prefix*=key; the first that fits counts. topic=none: not.
kbroker.event.loop | string | auto | in auto,uvloop,asyncio | ro | obeyed
    The event loop: uvloop if it is installed, or the one named.
kbroker.log.dir.min.free.bytes | long | 0 | >=0 | cluster | obeyed
    With fewer bytes free on the disk of a log directory its partitions take no records
    (KAFKA_STORAGE_ERROR, which producers retry); reading, deleting and offsets go on. 0: never.
kbroker.log.file | string | null | not blank | ro | obeyed
    A file for log lines, instead of stderr.
kbroker.log.file.bytes | long | 67108864 | >=4096 | ro | obeyed
    The size at which the log file becomes FILE.1, and a new one is begun.
kbroker.log.file.count | int | 5 | >=1 | ro | obeyed
    How many old log files are kept.
kbroker.log.format | string | text | in text,json | ro | obeyed
    How log lines look: short text, or an object of JSON each.
kbroker.log.level | string | info | anycase DEBUG,INFO,WARNING,ERROR | ro | obeyed
    The least important log lines written to stderr.
kbroker.log.requests.every | int | 0 | >=0 | cluster | obeyed
    One of so many requests is logged, with its client, size and time; 1: all, 0: none.
kbroker.metadata.fsync | boolean | true | - | ro | obeyed
    Whether a metadata change waits until it is forced to disk; the development profile does not wait.
kbroker.metrics.listener | string | null | not blank | ro | obeyed
    `host:port` (or a port, for this machine alone) of an HTTP listener for metrics and health: /metrics for
    Prometheus, /jolokia, /health, /ready. Not set: none. Nobody who comes there is asked who he is.
kbroker.metrics.otlp.endpoint | string | null | not blank | ro | obeyed
    An http:// or https:// address to which metrics are pushed by OTLP; without a path it is /v1/metrics.
kbroker.metrics.otlp.headers | password | null | - | ro | obeyed
    Headers of these pushes, `name=value` separated by commas: a key for the collector.
kbroker.metrics.otlp.interval.ms | long | 60000 | >=1000 | ro | obeyed
    How often they are pushed.
kbroker.no.auto.topics | boolean | false | - | cluster | obeyed
    Create no topics because somebody asks for them, whatever auto.create.topics.enable says.
kbroker.no.new.groups | boolean | false | - | cluster | obeyed
    Let nobody form a group that is not there yet (POLICY_VIOLATION); those that are go on.
kbroker.oauthbearer.allowed.urls | list |  | no empty items | ro | obeyed
    The URLs (https, file) that sasl.oauthbearer.jwks.endpoint.url may name; no other is ever asked.
kbroker.peer.routes | list |  | no empty items | ro | obeyed
    Detours to other nodes, `host:port>host:port`: what is advertised, and where to connect in its place. For
    tests that cut links, and for nodes behind different address translations.
kbroker.plain.backends | list | jaas | of jaas,file,ldap,http | ro | obeyed
    Who is asked for passwords of SASL PLAIN, the first one first; the first that knows the user decides.
kbroker.plain.cache.ms | long | 30000 | >=0 | ro | obeyed
    How long a right password is remembered, if kbroker.plain.backends is set; 0 asks each time.
kbroker.plain.file | string | null | not blank | ro | obeyed
    Users and hashes of passwords, as `kbroker-admin users hash` makes them; read anew when it changes.
kbroker.plain.http.url | string | null | not blank | ro | obeyed
    An HTTP server that knows passwords of SASL PLAIN.
kbroker.plain.ldap.ca | string | null | not blank | ro | obeyed
    File (PEM) of the authorities that ldaps:// trusts; those of the system if it is not set.
kbroker.plain.ldap.dn | string | null | not blank | ro | obeyed
    The name to bind with, as uid={user},ou=people,dc=example,dc=org.
kbroker.plain.ldap.search.base | string | null | not blank | ro | obeyed
    Users' entries are looked for below this one, in place of kbroker.plain.ldap.dn.
kbroker.plain.ldap.search.filter | string | (uid={user}) | not blank | ro | obeyed
    Which entry is a user's.
kbroker.plain.ldap.search.password | password | null | - | ro | obeyed
    The password of kbroker.plain.ldap.search.user.
kbroker.plain.ldap.search.user | string | null | not blank | ro | obeyed
    The name of who searches; nobody in particular if it is not set.
kbroker.plain.ldap.start.tls | boolean | false | - | ro | obeyed
    Go over to TLS on ldap:// before anything else is said.
kbroker.plain.ldap.url | string | null | not blank | ro | obeyed
    An LDAP server that knows passwords of SASL PLAIN, ldaps://host.
kbroker.plain.timeout.ms | int | 5000 | >=1 | ro | obeyed
    How long a login waits for LDAP or HTTP.
kbroker.protect.cpu.percent | list |  | no empty items | cluster | obeyed
    Two numbers: from so much use of the CPU by the event loop on producers are delayed, and refused with an
    error that they retry. One alone: delayed. Reading and administration go on.
kbroker.protect.disk.free.bytes | list |  | no empty items | cluster | obeyed
    As kbroker.protect.cpu.percent, below so many free bytes of any log directory.
kbroker.protect.loop.delay.ms | list |  | no empty items | cluster | obeyed
    As kbroker.protect.cpu.percent, when the event loop is so late.
kbroker.protect.memory.bytes | list |  | no empty items | cluster | obeyed
    As kbroker.protect.cpu.percent, from so much memory of the process on.
kbroker.quota.callback | string | null | not blank | ro | obeyed
    Code of your own that decides quotas of clients, as `package.module:Class` in Python's path.
kbroker.quota.central.url | password | null | - | ro | obeyed
    The Redis or Valkey server that counts quotas if kbroker.quota.scope is central, redis://host:port/0.
kbroker.quota.scope | string | broker | in broker,cluster,central | cluster | obeyed
    What producer_byte_rate and consumer_byte_rate are meant for: each broker, as in Kafka, or the whole
    cluster; then the brokers split them by demand, or a central server counts.
kbroker.read.only | boolean | false | - | cluster | obeyed
    Take no records of clients (POLICY_VIOLATION); everything else goes on.
kbroker.read.only.topics | list |  | no empty items | cluster | obeyed
    Topics that take no records of clients (POLICY_VIOLATION).
kbroker.request.limits | string |  | - | cluster | obeyed
    Limits of requests a second, separated by `;`, as `api=Metadata client-id=* rate=10 action=refuse`: of
    api, user, client-id and ip (also a network) what is named has to fit, `*` counts each by itself; action
    is delay (if it is not named) or refuse.
kbroker.zookeeper.sasl.jaas.config | password | null | - | ro | obeyed
    The login at ZooKeeper: org.apache.zookeeper.server.auth.DigestLoginModule required username="NAME"
    password="PASSWORD"; as in the section Client of a file of logins.
""".replace("@RELEASES@", _RELEASES)
