"""Texts to values and back, and Kafka's words for what is wrong."""

from __future__ import annotations

import pytest

from kbroker.config.values import ConfigType, InvalidValue, parse_value, to_text


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (ConfigType.INT, " 17 ", 17),
        (ConfigType.INT, "+5", 5),
        (ConfigType.INT, "\x00\x1f5\n\t", 5),
        (ConfigType.INT, "-0700", -700),
        (ConfigType.LONG, "9223372036854775807", 2**63 - 1),
        (ConfigType.BOOLEAN, " TRUE ", True),
        (ConfigType.LIST, " compact , delete ", ("compact", "delete")),
        (ConfigType.LIST, "", ()),
        (ConfigType.DOUBLE, "1e3", 1000.0),
        (ConfigType.STRING, " x ", "x"),
    ],
)
def test_parses(kind, text, value):
    assert parse_value("name", kind, text) == value


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (ConfigType.INT, "many", "Invalid value many for configuration n: Not a number of type INT"),
        (
            ConfigType.INT,
            "2147483648",
            "Invalid value 2147483648 for configuration n: Not a number of type INT",
        ),
        (ConfigType.INT, "\u00a05", "Invalid value \u00a05 for configuration n: Not a number of type INT"),
        (ConfigType.INT, "1_000", "Invalid value 1_000 for configuration n: Not a number of type INT"),
        (ConfigType.INT, "٣", "Invalid value ٣ for configuration n: Not a number of type INT"),
        (ConfigType.LONG, "", "Invalid value  for configuration n: Not a number of type LONG"),
        (ConfigType.DOUBLE, "1_0", "Invalid value 1_0 for configuration n: Not a number of type DOUBLE"),
        (
            ConfigType.BOOLEAN,
            "maybe",
            "Invalid value maybe for configuration n: Expected value to be either true or false",
        ),
    ],
)
def test_refuses_as_kafka_words_it(kind, text, message):
    with pytest.raises(InvalidValue) as caught:
        parse_value("n", kind, text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (("a", "b"), "a,b"),
        ((), ""),
        (None, None),
        (0.5, "0.5"),
        (2.0, "2.0"),
        (12345678.0, "1.2345678E7"),
        (0.00001, "1.0E-5"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (0.001, "0.001"),
        (-0.0001, "-1.0E-4"),
    ],
)
def test_prints_as_java_does(value, text):
    assert to_text(value) == text
