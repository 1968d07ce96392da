//go:build linux

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	roomSubject = "muster.room."
	// roomHeader says who writes a room, overHeader which message the write replaces.
	roomHeader = "Muster-Room"
	overHeader = nats.ExpectedLastSubjSeqHdr
)

// witness hears on each NATS server what hosts write and what NATS acknowledges, so that it knows
// what must be there whatever hosts say.
type witness struct {
	began time.Time
	conns []*nats.Conn

	mu    sync.Mutex // guards the fields below
	wrote map[string]Ack
	kept  map[string]uint64 // the acknowledged numbers, by where they were sent
	acks  []Ack
}

// Dial makes lab a dialler for NATS.
func (l *lab) Dial(network, address string) (net.Conn, error) {
	return l.dial(context.Background(), network, address)
}

// witness listens until the test ends.
func (l *lab) witness() *witness {
	l.t.Helper()
	w := &witness{began: l.began, wrote: map[string]Ack{}, kept: map[string]uint64{}}
	for _, name := range l.machines.NATS {
		conn, err := nats.Connect("nats://"+net.JoinHostPort(l.addrs[name], natsPort), nats.SetCustomDialer(l), nats.MaxReconnects(-1),
			nats.ReconnectWait(100*time.Millisecond), nats.IgnoreDiscoveredServers())
		if err == nil {
			_, err = conn.Subscribe(roomSubject+"*", w.hearWrite)
		}
		if err == nil {
			_, err = conn.Subscribe("_INBOX.>", w.hearAck)
		}
		if err == nil {
			err = conn.Flush()
		}
		if err != nil {
			l.t.Fatal(err)
		}
		l.t.Cleanup(conn.Close)
		w.conns = append(w.conns, conn)
	}
	return w
}

func (w *witness) hearWrite(m *nats.Msg) {
	var r struct {
		Owner, Life  string
		Claim, Write uint64
	}
	if json.Unmarshal([]byte(m.Header.Get(roomHeader)), &r) != nil {
		return // a host's own mark
	}
	over, _ := strconv.ParseUint(m.Header.Get(overHeader), 10, 64)
	a := Ack{Room: strings.TrimPrefix(m.Subject, roomSubject), Over: over, Write: r.Write,
		Claim: r.Owner + " " + r.Life + " " + strconv.FormatUint(r.Claim, 10)}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.wrote[m.Reply]; !known {
		w.wrote[m.Reply] = a
		w.match(m.Reply)
	}
}

func (w *witness) hearAck(m *nats.Msg) {
	var ack struct {
		Stream string
		Seq    uint64
		Error  any
	}
	if json.Unmarshal(m.Data, &ack) != nil || ack.Stream != "muster-rooms" || ack.Seq == 0 || ack.Error != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept[m.Subject] = ack.Seq
	w.match(m.Subject)
}

// match notes an acknowledged write once both of its halves were heard.
func (w *witness) match(reply string) {
	a, wrote := w.wrote[reply]
	seq := w.kept[reply]
	if !wrote || seq == 0 || a.Seq != 0 {
		return
	}
	a.At, a.Seq = time.Since(w.began), seq
	w.wrote[reply] = a
	w.acks = append(w.acks, a)
}

// losses asks NATS for the newest message of each room, and returns what it has lost.
func (w *witness) losses(t *testing.T) (acks int, lost []Loss) {
	w.mu.Lock()
	all := slices.Clone(w.acks)
	w.mu.Unlock()
	js, err := jetstream.New(w.conns[0])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := js.Stream(ctx, "muster-rooms")
	if err != nil {
		t.Fatal(err)
	}
	end := map[string]uint64{}
	for _, a := range all {
		if _, asked := end[a.Room]; asked {
			continue
		}
		m, err := stream.GetLastMsgForSubject(ctx, roomSubject+a.Room)
		switch {
		case err == nil:
			end[a.Room] = m.Sequence
		case errors.Is(err, jetstream.ErrMsgNotFound):
			end[a.Room] = 0
		default:
			t.Fatal(err)
		}
	}
	return len(all), Losses(all, end)
}

// copied is how long a NATS server may take to have everything again.
const copied = 20 * time.Second

// damage damages a NATS server's disk and starts the server again. One that does not come up, or
// does not get everything, is helped as docs/serve/run.md says.
func (l *lab) damage(p *program, f Fault) {
	rng := rand.New(rand.NewPCG(f.Seed, 19))
	store := filepath.Join(l.dir, p.name, "jetstream")
	if !f.Live {
		l.halt(p, rng)
	}
	what := "empty"
	if f.Do == Empty {
		l.moveAside(p, store)
	} else {
		what = strike(f.Do, store, rng)
	}
	l.tell(Event{Kind: "damaged", Who: p.name, Text: what})
	time.Sleep(f.For)
	if f.Live {
		l.halt(p, rng)
	}
	p.up()
	lacks := l.lacks(p)
	if lacks == "" {
		return
	}
	l.tell(Event{Kind: "helped", Who: p.name, Text: what + lacks})
	l.t.Logf("%s, %s", p.name, what+lacks)
	p.cmd.Process.Kill()
	<-p.done
	l.moveAside(p, store)
	if p.up(); l.lacks(p) != "" {
		l.t.Errorf("%s, %s, does not copy from the others:\n%s", p.name, what, l.printed(p.name))
	}
}

// halt ends a program: in good order or not.
func (l *lab) halt(p *program, rng *rand.Rand) {
	p.cmd.Process.Signal([]os.Signal{syscall.SIGTERM, syscall.SIGKILL}[rng.IntN(2)])
	<-p.done
}

// moveAside takes a server's store away, as an operator would.
func (l *lab) moveAside(p *program, store string) {
	if err := errors.Join(os.RemoveAll(store+".damaged"), os.Rename(store, store+".damaged")); err != nil {
		l.t.Error(err)
	}
}

// strike damages one file of a store, and says which.
func strike(do Deed, store string, rng *rand.Rand) string {
	var files []string
	filepath.WalkDir(store, func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, file)
		}
		return nil // a server that runs deletes some meanwhile
	})
	file := draws(files, rng)
	was, err := os.ReadFile(file)
	if err != nil {
		return "nothing: " + err.Error()
	}
	is, what := damaged(do, file, was, rng)
	f, err := os.OpenFile(file, os.O_WRONLY, 0) // in place: whoever has it open goes on with it
	if err == nil {
		_, err = f.WriteAt(is, 0)
		if do == Tear {
			err = f.Truncate(int64(len(is)))
		}
		f.Close()
	}
	if err != nil {
		return "nothing: " + err.Error()
	}
	return fmt.Sprintf("%s %s (%s of %s)", do, storeFile(file), what, strings.TrimPrefix(file, store))
}

// lacks waits until a NATS server says that it has everything, or returns what it does instead. It
// gives up at once on one that has ended.
func (l *lab) lacks(p *program) string {
	said := "no answer"
	for deadline := time.Now().Add(copied); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		select {
		case <-p.done:
			return ", ends"
		default:
		}
		reply, err := l.client().Get("http://" + net.JoinHostPort(l.addrs[p.name], monitorPort) + "/healthz")
		if err == nil {
			text, _ := io.ReadAll(reply.Body)
			if reply.Body.Close(); reply.StatusCode == http.StatusOK {
				return ""
			}
			said = string(text)
		}
	}
	return ", lags: " + said
}

// judge returns the findings that are the hosts' own. Those about rooms whose newest message NATS has
// lost, and which no owner had any longer, it only tells.
func (l *lab) judge(w *witness, found []Finding) (own []Finding) {
	acks, lost := w.losses(l.t)
	back, gone, after, said := 0, map[string]bool{}, map[string]int{}, ""
	for _, host := range l.machines.Hosts {
		text, err := os.ReadFile(filepath.Join(l.dir, host+".log"))
		if err != nil {
			l.t.Fatal(err)
		}
		said += string(text)
	}
	for _, loss := range lost {
		for _, e := range slices.Backward(l.events()) {
			if e.Kind == "damaged" && e.At < loss.At {
				after[e.Text]++
				break
			}
		}
		if !loss.Back {
			gone[loss.Room] = true
			continue
		}
		back++ // told, if the owner had heard the acknowledgement
	}
	excused := 0
	for _, f := range found {
		if gone[f.Event.Room] {
			excused++
			continue
		}
		own = append(own, f)
	}
	l.t.Logf("NATS acknowledged %d writes and lost the newest of a room %d times; %d times its owner wrote it again; the logs say so %d and %d times; "+
		"%d rooms had no owner then, which breaks %d promises; damage before: %v", acks, len(lost), back, strings.Count(said, `msg="NATS has lost messages"`),
		strings.Count(said, "a room is kept again"), len(gone), excused, after)
	return own
}
