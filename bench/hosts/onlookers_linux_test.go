package hosts

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host"
)

// These flags are for measuring a host whose organiser opens thousands of pages of their own rooms,
// and whether others notice. The pages run in another process:
//
//	go -C bench test ./hosts -run TestManyPages -v -pages 5000 -files 1024
var (
	pagesOpened = flag.Int("pages", 600, "pages that the organiser of TestManyPages opens")
	filesOpen   = flag.Uint64("files", 256, "files that the host of TestManyPages may open")
)

// pagesOf, pagesIn and pagesBy tell the test binary that opens pages the host, the rooms' codes and
// the credential.
const (
	pagesOf = "MUSTER_TEST_PAGES_OF"
	pagesIn = "MUSTER_TEST_PAGES_IN"
	pagesBy = "MUSTER_TEST_PAGES_BY"
)

// TestManyPages checks that one organiser's thousands of pages leave enough of a few hundred
// descriptors for /healthz, for new players, and for another room's page.
func TestManyPages(t *testing.T) {
	for name, attack := range map[string]struct {
		rooms  int
		seated bool
	}{"of one room": {1, false}, "of one room, with the organiser's secret": {1, true}, "of forty rooms": {40, false},
		"of forty rooms, with their secrets": {40, true}} {
		t.Run(name, func(t *testing.T) {
			allowFiles(t, *filesOpen)
			h, err := host.New(host.Config{List: listOf(1), Files: int(*filesOpen)})
			if err != nil {
				t.Fatal(err)
			}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			stop := h.Serve(listener, nil, func(err error) { t.Error(err) })
			defer func() { stop(); h.Close() }()
			code, _, _ := h.Open(friday(9))
			v := visitor{t: t, at: listener.Addr().String(), code: code}
			ann := v.joins("ann")
			pongs := listens(ann)
			defer func() { ann.Close(); <-pongs }()
			var codes, secrets []string
			for range attack.rooms {
				code, secret, err := h.Open(friday(9))
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, code)
				if attack.seated {
					secrets = append(secrets, secret)
				}
			}
			before := memoryNow()
			peak, maxFiles := watch(t, memoryNow), watch(t, filesNow)
			began := time.Now()
			defer opensPages(t, v.at, codes, secrets)()
			opening := time.Since(began)
			began = time.Now()
			reply, err := (&http.Client{
				Timeout:   20 * time.Second,
				Transport: &http.Transport{DisableKeepAlives: true},
			}).Get("http://" + v.at + "/healthz")
			if err != nil {
				t.Fatal("/healthz: ", err)
			}
			reply.Body.Close()
			health := time.Since(began)
			began = time.Now()
			bob := v.joins("bob")
			joining := time.Since(began)
			began = time.Now()
			v.looks()
			looking := time.Since(began)
			bob.Close()
			select {
			case <-pongs:
				t.Error("ann has lost the connection")
			default:
			}
			memory, files := peak()-before, maxFiles()
			t.Logf("%d pages in %v: %.0f MB and %.0f descriptors at most; /healthz takes %v, joining %v, a page %v",
				*pagesOpened, opening, memory/1e6, files, health, joining, looking)
			if files >= float64(*filesOpen) {
				t.Errorf("%.0f descriptors are open", files)
			}
		})
	}
}

// allowFiles bounds how many files this process may open, until the test is over.
func allowFiles(t *testing.T, most uint64) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: min(most, was.Max), Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was) })
}

// filesNow returns how many files this process has open.
func filesNow() float64 {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return float64(len(names))
}

// opensPages makes another process open all pages, and keep them until closed is called.
func opensPages(t *testing.T, at string, codes, secrets []string) (closed func()) {
	t.Helper()
	c := exec.Command("sh", "-c",
		`ulimit -n "$(ulimit -H -n)"; exec "$0" -test.run='^TestManyPagesOf$' -test.timeout=0 -pages=`+fmt.Sprint(*pagesOpened), os.Args[0])
	c.Env = append(os.Environ(), pagesOf+"="+at, pagesIn+"="+strings.Join(codes, ","), pagesBy+"="+strings.Join(secrets, ","))
	return beside(t, c)
}

// beside starts another process, and waits for the first byte that it prints. The process ends once its
// input does: end does that, and waits for it.
func beside(t *testing.T, c *exec.Cmd) (end func()) {
	t.Helper()
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	return func() { in.Close(); io.Copy(io.Discard, out); c.Wait() }
}

// TestManyPagesOf is no test: it is the organiser of TestManyPages.
func TestManyPagesOf(t *testing.T) {
	at := os.Getenv(pagesOf)
	if at == "" {
		t.Skip("for TestManyPages")
	}
	codes, secrets := strings.Split(os.Getenv(pagesIn), ","), strings.Split(os.Getenv(pagesBy), ",")
	const atOnce = 32
	var opening sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	pages := make([]*websocket.Conn, *pagesOpened) // so that none is collected and closed
	for i := range *pagesOpened {
		slots <- struct{}{}
		opening.Go(func() {
			defer func() { <-slots }()
			from := net.TCPAddr{IP: net.IPv4(127, 0, byte(1+i/50%200), byte(1+i%50))} // so that each address asks little
			dialer := websocket.Dialer{HandshakeTimeout: 10 * time.Second, NetDial: func(_, addr string) (net.Conn, error) {
				return (&net.Dialer{LocalAddr: &from, Timeout: 10 * time.Second}).Dial("tcp4", addr)
			}}
			ws, _, err := dialer.Dial("ws://"+at+"/live", nil)
			if err != nil {
				return // the host has cut it off
			}
			ws.WriteJSON(map[string]string{"code": codes[i%len(codes)], "token": secrets[i%len(secrets)]})
			ws.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, _, err := ws.NextReader(); err != nil {
				ws.Close() // the rest stay open, but are no longer read
				return
			}
			pages[i] = ws
		})
	}
	opening.Wait()
	fmt.Print("\n")
	io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(pages)
	os.Exit(0)
}
