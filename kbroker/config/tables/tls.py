"""TLS. The notation is explained in `definition.py`."""

TABLE = """\
ssl.keystore.location | string | null | - | broker | obeyed
    File with the broker's own certificate and key; read anew when it changes.
ssl.keystore.password | password | null | - | broker | obeyed
    Password of that file.
ssl.keystore.type | string | JKS | - | broker | obeyed
    Its format: JKS, PKCS12 or PEM.
ssl.keystore.key | password | null | - | broker | obeyed
    The private key itself, in PEM.
ssl.keystore.certificate.chain | password | null | - | broker | obeyed
    The certificate chain itself, in PEM.
ssl.key.password | password | null | - | broker | obeyed
    Password of the private key.
ssl.truststore.location | string | null | - | broker | obeyed
    File with the certificates that are trusted.
ssl.truststore.password | password | null | - | broker | obeyed
    Password of that file.
ssl.truststore.type | string | JKS | - | broker | obeyed
    Its format: JKS, PKCS12 or PEM.
ssl.truststore.certificates | password | null | - | broker | obeyed
    The trusted certificates themselves, in PEM.
ssl.client.auth | string | none | in required,requested,none | broker | obeyed
    Whether clients must show a certificate: required, requested or none.
ssl.enabled.protocols | list | TLSv1.2,TLSv1.3 | no empty items | broker | obeyed
    TLS versions that may be spoken.
ssl.protocol | string | TLSv1.3 | - | broker |
    The TLS version preferred.
ssl.cipher.suites | list |  | no empty items | broker | obeyed
    Cipher suites that may be used; empty leaves it to the library.
ssl.endpoint.identification.algorithm | string | https | - | broker | obeyed
    How a server's name is checked against its certificate; empty does not check.
ssl.principal.mapping.rules | string | DEFAULT | - | ro | obeyed
    Rules that turn a certificate's name into the name of a client.
ssl.allow.dn.changes | boolean | false | - | ro | obeyed
    Whether a new certificate may carry another name.
ssl.allow.san.changes | boolean | false | - | ro | obeyed
    Whether a new certificate may carry other alternative names.
ssl.engine.factory.class | class | null | - | broker |
    Java class that makes TLS engines; kbroker loads no Java.
ssl.keymanager.algorithm | string | SunX509 | - | broker |
    Key manager of Java; without meaning here.
ssl.trustmanager.algorithm | string | PKIX | - | broker |
    Trust manager of Java; without meaning here.
ssl.provider | string | null | - | broker |
    TLS provider of Java; without meaning here.
ssl.secure.random.implementation | string | null | - | broker |
    Random source of Java; without meaning here.
"""
