package page_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"muster/discovery/protocol/beacon"
)

// measures is a page that measures a beacon by ICE, and keeps the statistics of the pair of candidates in pair. The
// answer says that the beacon would begin the handshake of DTLS, so the browser sends it none.
const measures = `<!doctype html><link rel="icon" href="data:,"><script>
const pair = { responsesReceived: 0 };
(async () => {
	const connection = new RTCPeerConnection();
	connection.createDataChannel("");
	await connection.setLocalDescription(await connection.createOffer());
	await connection.setRemoteDescription({ type: "answer", sdp: [
		"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=ice-lite",
		"m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=mid:0", "a=setup:active", "a=sctp-port:5000",
		"a=ice-ufrag:%s", "a=ice-pwd:%s", "a=fingerprint:sha-256 " + Array(32).fill("00").join(":"),
		"a=candidate:1 1 udp 1 127.0.0.1 %d typ host", "a=end-of-candidates", ""].join("\r\n") });
	while (connection.connectionState !== "closed") {
		await new Promise((next) => setTimeout(next, 50));
		for (const s of (await connection.getStats()).values()) if (s.type === "candidate-pair") Object.assign(pair, s);
	}
})();
</script>`

// startBeacon starts muster beacon on loopback, and returns its address.
func startBeacon(t *testing.T, name string) *net.UDPAddr {
	t.Helper()
	run := exec.Command(program(t), "beacon", "--listen", "127.0.0.1:0", "--name", name)
	run.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	said, err := run.StdoutPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.Process.Kill(); run.Wait() })
	line, err := bufio.NewReader(said).ReadString('\n')
	at, wrong := net.ResolveUDPAddr("udp", strings.TrimSpace(strings.TrimPrefix(line, name+", ")))
	if err != nil || wrong != nil {
		t.Fatalf("%q, %v, %v", line, err, wrong)
	}
	return at
}

// TestBrowserMeasuresBeacon checks that a page measures the round trip to a beacon by WebRTC alone: muster beacon is
// what a browser takes for an agent of ICE.
func TestBrowserMeasuresBeacon(t *testing.T) {
	at := startBeacon(t, "here")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, measures, beacon.Ufrag, beacon.Password, at.Port)
	}))
	t.Cleanup(server.Close)
	b := browse(t, server.URL, desktop)
	b.until("three answers have come", func() bool { return eval[float64](b, "pair.responsesReceived") >= 3 })
	mean := eval[float64](b, "1000 * pair.totalRoundTripTime / pair.responsesReceived")
	t.Logf("%.2f ms on average; %s", mean, eval[string](b, "JSON.stringify(pair)"))
	if mean < 0 || mean > 200 { // a busy machine takes its time
		t.Errorf("on loopback the beacon is %v ms away", mean)
	}
}
