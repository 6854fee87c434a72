"""SASL. The notation is explained in `definition.py`."""

TABLE = """\
sasl.enabled.mechanisms | list | GSSAPI | no empty items | broker | obeyed
    Mechanisms that clients may log in with.
sasl.jaas.config | password | null | - | broker | obeyed
    Login settings in JAAS form, best set for one listener and mechanism.
sasl.mechanism.inter.broker.protocol | string | GSSAPI | - | broker | obeyed
    Mechanism among brokers.
sasl.mechanism.controller.protocol | string | GSSAPI | - | ro | obeyed
    Mechanism towards controllers.
sasl.server.callback.handler.class | class | null | - | ro |
    Java class that answers logins; kbroker loads no Java.
sasl.client.callback.handler.class | class | null | - | ro |
    Java class for the broker's own logins; kbroker loads no Java.
sasl.login.callback.handler.class | class | null | - | ro |
    Java class that fetches credentials; kbroker loads no Java.
sasl.login.class | class | null | - | ro |
    Java class that logs in; kbroker loads no Java.
sasl.server.max.receive.size | int | 524288 | - | ro | obeyed
    The largest login message accepted.
sasl.kerberos.service.name | string | null | - | broker | obeyed
    Service part of the broker's Kerberos name.
sasl.kerberos.kinit.cmd | string | /usr/bin/kinit | - | broker |
    Path of the kinit program.
sasl.kerberos.ticket.renew.window.factor | double | 0.8 | - | broker |
    The share of a ticket's life after which it is renewed.
sasl.kerberos.ticket.renew.jitter | double | 0.05 | - | broker |
    Random part added to that moment.
sasl.kerberos.min.time.before.relogin | long | 60000 | - | broker |
    The least time between two renewals.
sasl.kerberos.principal.to.local.rules | list | DEFAULT | no empty items | broker | obeyed
    Rules that turn Kerberos names into short names.
sasl.login.refresh.window.factor | double | 0.8 | - | broker | obeyed
    The share of a credential's life after which it is fetched anew.
sasl.login.refresh.window.jitter | double | 0.05 | - | broker | obeyed
    Random part added to that moment.
sasl.login.refresh.min.period.seconds | short | 60 | - | broker | obeyed
    The least time between two such fetches.
sasl.login.refresh.buffer.seconds | short | 300 | - | broker | obeyed
    Time kept in hand before a credential ends.
sasl.login.connect.timeout.ms | int | null | - | ro | obeyed
    How long connecting to the token provider may take.
sasl.login.read.timeout.ms | int | null | - | ro | obeyed
    How long reading from the token provider may take.
sasl.login.retry.backoff.ms | long | 100 | - | ro | obeyed
    The first pause after a failed call to the token provider; each further one is twice as long.
sasl.login.retry.backoff.max.ms | long | 10000 | - | ro | obeyed
    How long calls that fail are repeated.
sasl.oauthbearer.scope.claim.name | string | scope | - | ro | obeyed
    Claim that holds the scope.
sasl.oauthbearer.sub.claim.name | string | sub | - | ro | obeyed
    Claim that holds the subject.
sasl.oauthbearer.token.endpoint.url | string | null | - | ro | obeyed
    Where tokens come from.
sasl.oauthbearer.jwks.endpoint.url | string | null | - | ro | obeyed
    Where the keys that sign tokens come from.
sasl.oauthbearer.jwks.endpoint.refresh.ms | long | 3600000 | - | ro | obeyed
    How often those keys are fetched anew.
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms | long | 100 | - | ro | obeyed
    The first pause after a failed fetch of keys.
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms | long | 10000 | - | ro | obeyed
    The longest such pause.
sasl.oauthbearer.clock.skew.seconds | int | 30 | - | ro | obeyed
    By how much clocks may differ when a token's times are checked.
sasl.oauthbearer.expected.audience | list |  | no empty items | ro | obeyed
    Audiences of which a token must name one.
sasl.oauthbearer.expected.issuer | string | null | - | ro | obeyed
    The issuer that a token must name.
sasl.oauthbearer.allow.unverified.audience | boolean | false | - | ro | obeyed
    Whether tokens pass without a check of their audience.
sasl.oauthbearer.allow.unverified.issuer | boolean | false | - | ro | obeyed
    Whether tokens pass without a check of their issuer.
sasl.oauthbearer.jwt.retriever.class | class |\
 org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever | - | ro | obeyed
    How tokens are got: the name of one of Kafka's own classes; kbroker loads no Java.
sasl.oauthbearer.jwt.validator.class | class |\
 org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator | - | ro | obeyed
    How tokens are checked: the name of one of Kafka's own classes; kbroker loads no Java.
sasl.oauthbearer.scope | string | null | - | ro | obeyed
    Scope that the broker's own token requests ask for.
sasl.oauthbearer.client.credentials.client.id | string | null | - | ro | obeyed
    Client id of the broker's own token requests.
sasl.oauthbearer.client.credentials.client.secret | password | null | - | ro | obeyed
    Secret of the broker's own token requests.
sasl.oauthbearer.assertion.algorithm | string | RS256 | anycase ES256,RS256 | ro | obeyed
    Algorithm that signs the broker's own assertions.
sasl.oauthbearer.assertion.claim.aud | string | null | - | ro | obeyed
    Audience named in those assertions.
sasl.oauthbearer.assertion.claim.exp.seconds | int | 300 | 0..86400 | ro | obeyed
    How long such an assertion is valid.
sasl.oauthbearer.assertion.claim.iss | string | null | - | ro | obeyed
    Issuer named in those assertions.
sasl.oauthbearer.assertion.claim.jti.include | boolean | false | - | ro | obeyed
    Whether such an assertion gets a unique id.
sasl.oauthbearer.assertion.claim.nbf.seconds | int | 60 | 0..3600 | ro | obeyed
    By how much the validity of an assertion starts in the past.
sasl.oauthbearer.assertion.claim.sub | string | null | - | ro | obeyed
    Subject named in those assertions.
sasl.oauthbearer.assertion.file | string | null | - | ro | obeyed
    File with a ready assertion, read anew for each token.
sasl.oauthbearer.assertion.private.key.file | string | null | - | ro | obeyed
    File with the key that signs assertions.
sasl.oauthbearer.assertion.private.key.passphrase | password | null | - | ro | obeyed
    Passphrase of that key.
sasl.oauthbearer.assertion.template.file | string | null | - | ro | obeyed
    File with further headers and claims of assertions.
"""
