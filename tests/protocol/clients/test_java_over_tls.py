"""What Java brings along, against a registry that speaks TLS: a truststore as docs/service.md has it for Java clients.

Confluent's Java client, which no public registry of packages has, asks by `HttpURLConnection`.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.protocol.clients.server import serving
from tests.protocol.test_auth import a_key

PASSWORD = "changeit"

JAVA = """
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

public class Secured {
    public static void main(String[] args) throws Exception {
        String basic = "Basic " + Base64.getEncoder().encodeToString(args[1].getBytes(StandardCharsets.UTF_8));
        String body = "{\\"schema\\":\\"\\\\\\"int\\\\\\"\\"}";
        HttpURLConnection old = (HttpURLConnection) new URL(args[0] + "/subjects/java/versions").openConnection();
        old.setRequestMethod("POST");
        old.setDoOutput(true);
        old.setRequestProperty("Authorization", basic);
        old.setRequestProperty("Content-Type", "application/vnd.schemaregistry.v1+json");
        old.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        System.out.println("registered " + old.getResponseCode());
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(URI.create(args[0] + "/subjects/java/versions"))
            .header("Authorization", basic).build();
        for (int turn = 0; turn < 2; turn++) {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.version() + " " + answer.body());
        }
    }
}
"""


@pytest.mark.soak
def test_java_trusts_an_authority_by_a_truststore(tmp_path: Path) -> None:
    """Both of its clients: the one that prefers HTTP/2, and the old one."""
    java, keytool = shutil.which("java"), shutil.which("keytool")
    if java is None or keytool is None:
        pytest.skip("Java is not installed here")
    authority = Authority.made(tmp_path)
    (tmp_path / "pair").mkdir()
    pair = authority.pair(tmp_path / "pair")
    data, store, source = tmp_path / "data", tmp_path / "trust.p12", tmp_path / "Secured.java"
    key = a_key(data, "shop", "--role", "writer")
    source.write_text(JAVA)
    words = ["-importcert", "-noprompt", "-alias", "registry", "-file", str(authority.file)]
    made = [keytool, *words, "-keystore", str(store), "-storepass", PASSWORD]
    assert subprocess.run(made, capture_output=True, check=False).returncode == 0
    trusting = [f"-Djavax.net.ssl.trustStore={store}", f"-Djavax.net.ssl.trustStorePassword={PASSWORD}"]
    options = ("--auth", "--tls-cert", str(pair.cert), "--tls-key", str(pair.key))
    with serving(data, *options, authority=authority.file) as server:
        program = [java, "-XX:TieredStopAtLevel=1", *trusting, str(source), server.url, key]
        done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "registered 200\n200 HTTP_1_1 [1]\n200 HTTP_1_1 [1]\n", done.stderr
