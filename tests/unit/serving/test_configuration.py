import re

import pytest

from cgmh.errors import BadInput
from cgmh.serving.configuration import ServerSettings, is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST", "cgmh.localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)
    assert ServerSettings(host=host).api_key is None


@pytest.mark.parametrize("host", ["::", "192.168.1.2", "example.org", "localhost.evil.org", "127.0.0.1.evil.org"])
def test_other_addresses_need_a_key(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(BadInput, match="can be reached by others: give an `api_key`"):
        ServerSettings(host=host)
    assert ServerSettings(host=host, api_key="12345678").host == host
    assert ServerSettings(host=host, insecure=True).host == host


@pytest.mark.parametrize("header", ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765", "[::1]"])
def test_known_hosts(header: str) -> None:
    assert ServerSettings().knows_host(header)


@pytest.mark.parametrize(
    "header", ["evil.example", "evil.example:8765", "", "127.0.0.1.evil.example", "[2001:db8::1]:8765"]
)
def test_other_hosts_are_not_served_on_loopback(header: str) -> None:
    assert not ServerSettings().knows_host(header)
    assert ServerSettings(host="::", api_key="12345678").knows_host(header)


def test_a_proxy_may_have_a_name() -> None:
    assert ServerSettings(allow_hosts=("Text.Example.org",)).knows_host("text.example.org:443")


@pytest.mark.parametrize(
    ("allowed", "origin", "may"),
    [
        ("https://example.org", "https://example.org", True),
        ("https://example.org", "https://example.org.evil.com", False),
        ("https://example.org", "https://exampleXorg", False),
        ("moz-extension://*", "moz-extension://0f6d1a", True),
        ("moz-extension://*", "https://moz-extension", False),
        ("*", "https://anything", True),
        ("null", "null", True),
    ],
)
def test_origins(allowed: str, origin: str, may: bool) -> None:
    assert bool(re.fullmatch(ServerSettings(allow_origins=(allowed,)).origins, origin)) == may


def test_no_origin_is_allowed_unless_told() -> None:
    assert not re.fullmatch(ServerSettings().origins, "")
    assert not re.fullmatch(ServerSettings().origins, "https://example.org")


@pytest.mark.parametrize("origin", ["example.org", "https://example.org/path", "https://*.example.org", ""])
def test_origins_that_are_none(origin: str) -> None:
    with pytest.raises(BadInput, match="give scheme://host"):
        ServerSettings(allow_origins=(origin,))


@pytest.mark.parametrize("key", ["", "short", "with a blank", "schlüssel-lang"])
def test_keys_that_no_header_should_carry(key: str) -> None:
    with pytest.raises(BadInput, match="at least 8 characters"):
        ServerSettings(api_key=key)
