package program_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"muster/host/cluster"
	"muster/host/cluster/clustertest"
	"muster/internal/freeport"
)

// natsCluster is some NATS servers, as one cluster if there are several.
type natsCluster struct {
	t       *testing.T
	at      []string
	configs []string
	stores  []string   // folders
	running []*process // nil for one that is stopped
}

// natsServers starts so many NATS servers.
func natsServers(t *testing.T, n int) *natsCluster {
	t.Helper()
	c := &natsCluster{t: t, running: make([]*process, n)}
	var routes []string
	for range n {
		c.at = append(c.at, freeport.TCP(t))
		routes = append(routes, freeport.TCP(t))
	}
	for i := range n {
		c.stores = append(c.stores, t.TempDir())
		config := fmt.Sprintf("listen: %q\nserver_name: n%d\njetstream: { store_dir: %q }\n", c.at[i], i+1, c.stores[i])
		if n > 1 {
			config += fmt.Sprintf("cluster: { name: model, listen: %q, routes: [ %s ] }\n", routes[i], "nats://"+strings.Join(routes, ", nats://"))
		}
		c.configs = append(c.configs, writeFile(t, "nats.conf", config))
	}
	c.start()
	return c
}

// start starts the servers that do not run.
func (c *natsCluster) start() {
	c.t.Helper()
	for i, p := range c.running {
		if p == nil {
			c.running[i] = start(c.t, fmt.Sprint("nats", i+1), exec.Command(goBin(c.t, "nats-server"), "-c", c.configs[i]))
		}
	}
	for _, at := range c.at {
		awaitPort(c.t, at)
	}
}

func (c *natsCluster) url() string { return "nats://" + strings.Join(c.at, ",nats://") }

// TestJetStream checks that real servers answer as the model does, whose test has the same lines.
func TestJetStream(t *testing.T) {
	for _, tt := range []struct {
		servers, replicas int
		text              string
	}{
		{1, 1, clustertest.Behaviours}, {1, 1, clustertest.BehavioursOfOne},
		{3, 1, clustertest.Behaviours}, {3, 3, clustertest.Behaviours}, {3, 3, clustertest.BehavioursOfThree},
	} {
		t.Run(fmt.Sprint(tt.servers, tt.replicas), func(t *testing.T) {
			t.Parallel()
			s := natsServers(t, tt.servers)
			nc, err := nats.Connect(s.url(), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			fault := func(what string) error {
				verb, of, _ := strings.Cut(what, " of ")
				if verb == "start all" {
					s.start()
					return nil
				}
				leader, err := leaderOf(nc, of)
				if subject, is := strings.CutPrefix(verb, "rot "); is {
					return errors.Join(err, rot(s.stores[max(0, slices.Index([]string{"n1", "n2", "n3"}, leader))], of, subject))
				}
				for i, p := range s.running {
					if isLeader := fmt.Sprint("n", i+1) == leader; p == nil || isLeader != (verb == "stop the leader") {
						continue
					}
					p.stop(syscall.SIGKILL)
					if s.running[i] = nil; verb == "stop a follower" {
						break
					}
				}
				return err
			}
			for _, wrong := range clustertest.Play(nc, "until account => ok\n"+tt.text, tt.replicas, fault) {
				t.Error(wrong)
			}
		})
	}
}

// rot turns a bit over in the newest message of a subject, behind the subject in the last file of a
// stream.
func rot(store, stream, subject string) error {
	files, err := filepath.Glob(filepath.Join(store, "jetstream", "$G", "streams", stream, "msgs", "*.blk"))
	if err != nil || len(files) == 0 {
		return errors.Join(err, fmt.Errorf("no files in %s", store))
	}
	file, err := os.OpenFile(files[len(files)-1], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	block, err := io.ReadAll(file)
	at := bytes.LastIndex(block, []byte(subject)) + len(subject)
	if err != nil || at < len(subject) || at == len(block) {
		return errors.Join(err, fmt.Errorf("%s has no %s", file.Name(), subject))
	}
	_, err = file.WriteAt([]byte{block[at] ^ 1}, int64(at)) // in place: the server has the file open
	return err
}

// leaderOf returns the name of the server that leads a stream.
func leaderOf(nc *nats.Conn, stream string) (string, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return "", err
	}
	found, err := js.Stream(context.Background(), stream)
	if err != nil || found.CachedInfo().Cluster == nil { // a server alone
		return "", err
	}
	return found.CachedInfo().Cluster.Leader, nil
}

// TestNATSRefuses checks that a host that real servers do not let in learns why, and what to do.
func TestNATSRefuses(t *testing.T) {
	own := httptest.NewUnstartedServer(nil) // for its certificate
	own.StartTLS()
	defer own.Close()
	key, err := x509.MarshalPKCS8PrivateKey(own.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	ca := writeFile(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate().Raw})))
	keyFile := writeFile(t, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	serve := func(more string) string {
		at := freeport.TCP(t)
		config := fmt.Sprintf("listen: %q\njetstream: { store_dir: %q }\n%s\n", at, t.TempDir(), more)
		start(t, "nats", exec.Command(goBin(t, "nats-server"), "-c", writeFile(t, "nats.conf", config)))
		awaitPort(t, at)
		return at
	}
	users := "nats://" + serve(`authorization: { user: ann, password: secret }`)
	secure := "tls://" + serve(fmt.Sprintf("tls: { cert_file: %q, key_file: %q }", ca, keyFile))
	for _, tt := range []struct {
		name   string
		config cluster.Config
		want   error
	}{
		{"no NATS", cluster.Config{URL: strings.Replace(own.URL, "https://", "nats://", 1)}, cluster.ErrUnreachable},
		{"no password", cluster.Config{URL: users}, cluster.ErrCredentials},
		{"a password", cluster.Config{URL: strings.Replace(users, "//", "//ann:secret@", 1)}, nil},
		{"a certificate of nobody known", cluster.Config{URL: secure}, cluster.ErrCertificate},
		{"TLS and the CA", cluster.Config{URL: secure, CA: ca}, nil},
	} {
		tt.config.Node = "a"
		c, err := cluster.Open(t.Context(), tt.config)
		if err == nil {
			c.Close()
		}
		var said *cluster.Error
		if !errors.Is(err, tt.want) || tt.want != nil && (!errors.As(err, &said) || said.Hint() == "") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
