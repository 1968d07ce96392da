package publichost

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"muster/host"
	"muster/host/cluster"
	"muster/host/operating"
	"muster/host/store"
	"muster/internal/hint"
	"muster/internal/term"
	"muster/internal/userfile"
)

// The operator's requests come on a listener of their own, on loopback: no proxy reaches it, and no
// setting opens it to others. Its port is any free one, and stands in a file that the command reads.
//
//	rooms.db.operators   a key a line, which the host makes when it first starts
//	rooms.db.operate     where the running host listens

// Places says where a host keeps its files.
type Places struct {
	// Rooms is the store, Keys are the operators' keys, and Door has the running host's address for
	// operators.
	Rooms, Keys, Door string
}

// Places returns where the host keeps its files. It makes no folder. Hosts that share NATS keep
// their files in the state folder: one folder of keys for all hosts on the machine, and an address
// for each.
func (s *Settings) Places() Places {
	folder := filepath.Join(xdg.StateHome, "muster")
	if s.Cluster.URL != "" {
		named := Settings{Cluster: s.Cluster}
		named.NameNode() // on failure it has none, and no file
		return Places{Keys: filepath.Join(folder, "operators"), Door: filepath.Join(folder, named.Cluster.Node+".operate")}
	}
	rooms := cmp.Or(s.Store, filepath.Join(folder, "rooms.db"))
	return Places{rooms, rooms + ".operators", rooms + ".operate"}
}

// readKeys reads the operators' keys.
func readKeys(file string) (operating.Keys, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return operating.ReadKeys(bytes.NewReader(data))
}

// operate answers operators until end is called. A host that cannot do so still holds rooms.
func (h *Host) operate(rooms *host.Host) (end func()) {
	end, err := h.beginOperating(rooms)
	if err != nil {
		h.log.Warn("no operator can see or change rooms", "error", hint.Plain(err))
		return func() {}
	}
	return end
}

func (h *Host) beginOperating(rooms *host.Host) (end func(), err error) {
	keys, door := h.Places().Keys, h.Places().Door
	if err := os.MkdirAll(filepath.Dir(keys), 0o700); err != nil {
		return nil, err
	}
	if _, err := os.Stat(keys); errors.Is(err, fs.ErrNotExist) {
		if err := userfile.Replace(keys, []byte(operating.NewKey("operator"))); err != nil {
			return nil, err
		}
	}
	if _, err := readKeys(keys); err != nil {
		return nil, fmt.Errorf("%s: %w", keys, err)
	}
	listener, err := listenAtHome()
	if err != nil {
		return nil, err
	}
	if err := userfile.Replace(door, []byte(listener.Addr().String()+"\n")); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	desk := rooms.Desk(func() (operating.Keys, error) { return readKeys(keys) })
	server := &http.Server{Handler: desk, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 4 << 10}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(listener)
	}()
	h.log.Debug("operators are answered", "at", listener.Addr().String())
	return func() {
		os.Remove(door) // a later start replaces it
		server.Close()
		<-served
	}, nil
}

// listenAtHome listens on loopback, at any free port.
func listenAtHome() (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		listener, err = net.Listen("tcp", "[::1]:0")
	}
	return listener, err
}

// Operator returns a way to the host that runs with these settings, by the key in a file; if that is
// empty, by the host's own.
func (s *Settings) Operator(keyFile string) (at, key string, err error) {
	files := s.Places()
	text, err := os.ReadFile(files.Door)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", hint.With(fmt.Errorf("no muster serve runs here: there is no %s", files.Door),
			"say where it keeps its rooms, as muster serve was told: --store FILE, or --nats URL and --node NAME")
	case err != nil:
		return "", "", hint.With(fmt.Errorf("%s: %w", files.Door, hint.Reason(err)), "run the command as the user who runs muster serve")
	}
	keyFile = cmp.Or(keyFile, files.Keys)
	data, err := os.ReadFile(keyFile)
	if err == nil {
		key, err = operating.FirstKey(bytes.NewReader(data))
	}
	if err != nil {
		return "", "", hint.With(fmt.Errorf("%s: %w", keyFile, hint.Reason(err)),
			"run the command as the user who runs muster serve, or say --key-file FILE with a line NAME KEY that is in "+files.Keys)
	}
	return strings.TrimSpace(string(text)), key, nil
}

func openStore(name string) (*store.File, error) {
	file, err := store.Open(name)
	switch {
	case errors.Is(err, store.ErrInUse):
		return nil, hint.With(fmt.Errorf("the rooms in %s are %w", name, store.ErrInUse),
			"end the muster that serves them, or give this one another file")
	case errors.Is(err, store.ErrNewer):
		return nil, hint.With(fmt.Errorf("the rooms in %s were %w", name, store.ErrNewer),
			"start that one, or take another file; this one is as it was")
	case err != nil:
		return nil, hint.With(fmt.Errorf("cannot keep rooms in %s: %w", name, hint.Reason(err)), "is the folder there, and writable?")
	}
	return file, nil
}

// Move imports a file's rooms into the cluster, or exports the cluster's rooms into one, while its hosts continue.
func (h *Host) Move(ctx context.Context, say func(string, ...any)) error {
	name, from := h.Import, true
	if name == "" {
		name, from = h.Export, false
	}
	if _, err := os.Stat(name); from && err != nil {
		return fmt.Errorf("cannot open %s: %w", name, hint.Reason(err))
	}
	file, err := openStore(name)
	if err != nil {
		return err
	}
	defer file.Close()
	h.Cluster.Logger = h.log
	many, err := cluster.Open(ctx, h.Cluster)
	if err != nil {
		return err
	}
	defer many.Close()
	do, what := many.Export, "written to "+name
	if from {
		do, what = many.Import, "taken over into NATS"
	}
	moved, err := do(ctx, file)
	say("%s %s, %d that are over, and %s; %d were there already",
		term.Count(moved.Rooms, "room"), what, moved.Tombstones, term.Count(moved.Blobs, "list"), moved.Present)
	switch {
	case errors.Is(err, store.ErrTaken):
		return hint.With(err, "what is there stays as it is; move to another place if you need both")
	case errors.Is(err, store.ErrAway):
		return hint.With(err, "say the same command again: it goes on where it stopped")
	}
	return err
}
